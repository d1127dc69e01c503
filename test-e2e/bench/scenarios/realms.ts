import type { Measurement } from '../harness/measurement.ts';
import { figure, type Scenario } from '../harness/scenario.ts';
import { sendsInRealms } from './many-realms.ts';
import { totalCpu } from './sends.ts';

export const realms: Scenario = {
  name: 'realms',
  title: '64 sends in flight, spread over more and more realms',
  async run(bench) {
    const { realms: sizes } = bench.sizes;
    const requests = await sendsInRealms(bench, sizes[2]);
    const measurements: Measurement[] = [];
    for (const count of sizes) {
      const chosen = requests.filter((_, index) => index % sizes[2] < count);
      measurements.push(await bench.measure({ name: `${count} realms`, unit: 'send', requests: chosen }));
    }
    const points = (of: (one: Measurement) => number): [number, number][] =>
      measurements.map((one, index) => [sizes[index] ?? 0, of(one)]);
    return {
      measurements,
      figures: [
        figure('most_realms_per_second', measurements.at(-1)?.perSecond ?? 0, '/s'),
        figure('most_to_one_rate', (measurements.at(-1)?.perSecond ?? 0) / (measurements[0]?.perSecond ?? 0), '× rate'),
        figure(
          'most_to_one_cpu',
          totalCpu(measurements.at(-1) ?? { cpu: {} }) / totalCpu(measurements[0] ?? { cpu: {} }),
          '× CPU',
          'lower',
        ),
      ],
      plots: [
        {
          title: 'Sends a second by the number of realms',
          x: 'realms',
          y: '/s',
          isLogX: true,
          series: [{ name: 'sends', points: points((one) => one.perSecond) }],
        },
        {
          title: 'Cost of a send by the number of realms',
          x: 'realms',
          y: 'CPU ms',
          isLogX: true,
          series: [{ name: 'CPU', points: points(totalCpu) }],
        },
      ],
      notes: [
        'Few sends to each of many realms are committed together; each realm has its own entries, hints and consumers.',
      ],
    };
  },
};
