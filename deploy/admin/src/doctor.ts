import { type Command, readOptions } from './command.ts';
import { checkGateway } from './doctor-gateway.ts';
import { checkNats } from './doctor-nats.ts';
import { type Clock, checkPostgres } from './doctor-postgres.ts';
import { checkRedis } from './doctor-redis.ts';
import { type Finding, fail } from './finding.ts';

export const doctor: Command = {
  name: 'doctor',
  usage: '[--url URL] [--json]',
  summary: 'Check Postgres, migrations, Redis, NATS, every service, the log and its consumers',
  run: async (args) => {
    const options = readOptions(args, [], ['url'], ['json']);
    const clocks: Clock[] = [];
    const findings = [
      ...(await guarded('Postgres', () => checkPostgres(clocks))),
      ...(await guarded('Redis', () => checkRedis(clocks))),
      ...(await guarded('NATS', checkNats)),
      ...(options.url ? await guarded('gateway', () => checkGateway(options.url ?? '')) : []),
    ];
    if (options.flags.has('json')) console.log(JSON.stringify(findings, null, 2));
    else for (const { state, subject, text } of findings) console.log(`${state.padEnd(5)} ${subject}: ${text}`);
    return findings.some(({ state }) => state === 'FAIL') ? 1 : 0;
  },
};

async function guarded(subject: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [
      fail(subject, error instanceof AggregateError ? error.errors.join('; ') : String((error as Error).message)),
    ];
  }
}
