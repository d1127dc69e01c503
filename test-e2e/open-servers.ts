import { afterCommit, createDatabase, type Database, migrate } from '@natter/database';
import { bringServers, type Servers } from '@natter/local';
import { dataDirectory } from './open-system.ts';

/** Starts the servers of a system without its services, for one file of tests. The password of services is "secret". */
export async function openServers(): Promise<Servers> {
  const servers = await bringServers({ dataDir: await dataDirectory() });
  await migrate(servers.postgresUrl, 'secret', () => undefined);
  return servers;
}

export const openDatabase = (url: string, maxConnections: number, name = 'test'): Database =>
  createDatabase({ url, maxConnections, name, onError: () => undefined });

/** A callback for units of work that ignores the appended entries. */
export const ignored = afterCommit(
  () => undefined,
  () => undefined,
);
