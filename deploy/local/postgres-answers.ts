/** Whether PostgreSQL answers a query; creates the database of the URL if the server has none yet. */
import { createRequire } from 'node:module';

interface Connection {
  connect(): Promise<unknown>;
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

const { Client } = createRequire(import.meta.url)('pg') as {
  Client: new (options: {
    connectionString: string;
    connectionTimeoutMillis: number;
    query_timeout: number;
  }) => Connection;
};

export async function answersQuery(url: string): Promise<boolean> {
  try {
    await once(url, 'SELECT 1');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== UNKNOWN_DATABASE) return false;
  }
  const server = new URL(url);
  const database = server.pathname.slice(1);
  server.pathname = '/postgres';
  await once(server.href, `CREATE DATABASE ${database}`);
  return true;
}

const UNKNOWN_DATABASE = '3D000';

async function once(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000, query_timeout: 30_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end().catch(() => {});
  }
}
