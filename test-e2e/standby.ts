import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bringServers, type Servers } from '@natter/local';
import pg from 'pg';
import { dataDirectory } from './open-system.ts';

/** A standby with the present data of Postgres, which receives nothing later. Postgres restarts meanwhile. */
export async function startStandby({ postgres, postgresUrl, redisUrl, natsUrl }: Servers): Promise<Servers> {
  const reader = new pg.Client({ connectionString: postgresUrl });
  await reader.connect();
  const data = (await reader.query('SHOW data_directory')).rows[0].data_directory as string;
  await reader.end();
  const dataDir = await dataDirectory();
  const home = join(dataDir, 'postgres');
  await mkdir(home);
  await postgres.kill('SIGKILL');
  execFileSync('cp', ['-a', data, join(dirname(data), 'password'), home]);
  await postgres.start();
  await writeFile(join(home, 'data', 'standby.signal'), '');
  const env = { ...process.env, NATTER_REDIS_URL: redisUrl, NATTER_NATS_URL: natsUrl };
  return bringServers({ dataDir, env });
}
