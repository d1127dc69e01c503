import { type Command, readOptions, UsageError } from './command.ts';
import { checkGateway } from './doctor-gateway.ts';
import { checkNats } from './doctor-nats.ts';
import { checkPasswords } from './doctor-passwords.ts';
import { type Clock, checkPostgres } from './doctor-postgres.ts';
import { type Compared, checkProjections } from './doctor-projections.ts';
import { checkRedis } from './doctor-redis.ts';
import { checkSpace } from './doctor-space.ts';
import { type Finding, fail, runbook, section } from './finding.ts';
import { seconds } from './migrate.ts';

export const doctor: Command = {
  name: 'doctor',
  usage: '[--url URL] [--max-lag SECONDS] [--free MIB] [--wait SECONDS] [--deep HOST | --sample REALMS]',
  summary: 'Check Postgres, migrations, Redis, NATS, every service, the log and its consumers',
  run: async (args, output) => {
    const options = readOptions(args, [], ['url', 'max-lag', 'free', 'wait', 'deep', 'sample']);
    const maxLagSeconds = Number(options['max-lag'] ?? 120);
    if (!(maxLagSeconds >= 0)) throw new UsageError('--max-lag is a number of seconds');
    const free = Number(options.free ?? 16);
    if (!(Number.isInteger(free) && free >= 1 && free <= 10_000))
      throw new UsageError('--free is a number of MiB from 1 to 10000');
    const compared = comparedOf(options.deep, options.sample);
    const examined = { url: options.url, maxLagSeconds, free, compared };
    const deadline = Date.now() + seconds(options.wait) * 1_000;
    let findings = await examine(examined);
    while (hasFailed(findings) && Date.now() + restMs < deadline) {
      await new Promise((resolve) => setTimeout(resolve, restMs));
      findings = await examine(examined);
    }
    const lines = findings.map(
      ({ state, subject, text, page }) => `${state.padEnd(5)} ${subject}: ${text}${page ? ` (see ${page})` : ''}`,
    );
    output.done(lines.join('\n'), findings);
    return hasFailed(findings) ? 1 : 0;
  },
};

const restMs = 2_000;
const hasFailed = (findings: readonly Finding[]): boolean => findings.some(({ state }) => state === 'FAIL');

interface Examined {
  url: string | undefined;
  maxLagSeconds: number;
  free: number;
  compared: Compared | undefined;
}

async function examine({ url, maxLagSeconds, free, compared }: Examined): Promise<Finding[]> {
  const clocks: Clock[] = [];
  return [
    ...(await guarded('Postgres', runbook('NatterPostgresAway'), () => checkPostgres(clocks, maxLagSeconds))),
    ...(await guarded('space of Postgres', section('disks-that-are-full'), () => checkSpace(free))),
    ...(await guarded('passwords', runbook('NatterPostgresAway'), checkPasswords)),
    ...(await guarded('Redis', runbook('NatterRedisAway'), () => checkRedis(clocks))),
    ...(await guarded('NATS', runbook('NatterNatsAway'), checkNats)),
    ...(url ? await guarded('gateway', section('an-unreachable-gateway'), () => checkGateway(url)) : []),
    ...(compared
      ? await guarded('projections', section('projections-that-differ'), () => checkProjections(compared))
      : []),
  ];
}

function comparedOf(host: string | undefined, sample: string | undefined): Compared | undefined {
  if (host !== undefined && sample !== undefined) throw new UsageError('--deep and --sample exclude each other');
  if (host !== undefined) return { host };
  if (sample === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(sample)) throw new UsageError('--sample is a number of realms');
  return { sample: Number(sample) };
}

async function guarded(subject: string, page: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [
      fail(subject, error instanceof AggregateError ? error.errors.join('; ') : String((error as Error).message), page),
    ];
  }
}
