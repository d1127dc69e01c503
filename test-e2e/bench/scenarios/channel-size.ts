import { type PostgresWork, perUnit, postgresWork } from '../data/postgres-work.ts';
import { registerQueues } from '../data/queues.ts';
import { largeOrganisation } from '../data/realms.ts';
import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { followAll, sendsTo, totalCpu } from './sends.ts';

export const channelSize: Scenario = {
  name: 'channel-size',
  title: 'sends to channels of different sizes, the same ten live queues',
  async run(bench) {
    const { channelSizes } = bench.sizes;
    const realm = await largeOrganisation(bench);
    const [smallest = 10] = channelSizes;
    const following = await followAll(bench, await registerQueues(bench, realm.host, realm.people.slice(0, smallest)));
    const senders = realm.people.slice(-16);
    const measurements: Measurement[] = [];
    const work: PostgresWork[] = [];
    for (const size of channelSizes) {
      const requests = sendsTo(realm, senders, realm.channelOfSize[size] ?? 0);
      await bench.load.run({
        kind: 'closed',
        address: bench.target.address,
        connections: 64,
        requests,
        ms: bench.sizes.warmupMs,
      });
      const before = await postgresWork(bench);
      const measured = await bench.measure({
        name: `${size.toLocaleString('en')} subscribers`,
        unit: 'send',
        requests,
        count: bench.sizes.measureMs,
      });
      work.push(perUnit(await postgresWork(bench), before, measured.count));
      measurements.push(measured);
    }
    await following.stop();
    const [small, , large] = measurements;
    const [smallWork, , largeWork] = work;
    return {
      measurements,
      figures: [
        figure('large_to_small_time', (small?.perSecond ?? 0) / (large?.perSecond ?? 1), '× time', 'lower'),
        figure('large_to_small_cpu', totalCpu(large ?? { cpu: {} }) / totalCpu(small ?? { cpu: {} }), '× CPU', 'lower'),
        figure('rows_written_difference', (largeWork?.rowsWritten ?? 0) - (smallWork?.rowsWritten ?? 0), 'rows/send'),
      ],
      plots: [
        {
          title: 'Cost of a send by the size of its channel',
          x: 'subscribers',
          y: 'CPU ms per send',
          isLogX: true,
          series: [
            {
              name: 'CPU',
              points: channelSizes.map((size, index) => [size, totalCpu(measurements[index] ?? { cpu: {} })]),
            },
          ],
        },
      ],
      notes: channelSizes.map((size, index) => {
        const { transactions = 0, rowsWritten = 0, indexScans = 0, tableScans = 0, walBytes = 0 } = work[index] ?? {};
        return `${size.toLocaleString('en')} subscribers: per send ${rowsWritten.toFixed(2)} rows written, ${indexScans.toFixed(2)} index scans, ${tableScans.toFixed(2)} table scans, ${transactions.toFixed(2)} transactions, ${walBytes.toFixed(0)} bytes of WAL`;
      }),
    };
  },
};
