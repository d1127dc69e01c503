import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const folder = new URL('../migrations/', import.meta.url);

/** Applies what is missing, in order of file name, each in a transaction of its own; one runner at a time. */
export async function migrate(url: string, servicePassword: string, log: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(7103)');
    await client.query(
      'CREATE TABLE IF NOT EXISTS public.migration (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())',
    );
    const { rows } = await client.query<{ name: string }>('SELECT name FROM public.migration');
    const applied = new Set(rows.map((row) => row.name));
    const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
    for (const name of names) {
      if (applied.has(name)) continue;
      const text = await readFile(new URL(name, folder), 'utf8');
      await client.query(
        `BEGIN; ${text}; INSERT INTO public.migration (name) VALUES (${pg.escapeLiteral(name)}); COMMIT`,
      );
      log(`migrated ${name}`);
    }
    for (const schema of serviceSchemas)
      await client.query(`ALTER ROLE natter_${schema} PASSWORD ${pg.escapeLiteral(servicePassword)}`);
  } finally {
    await client.end();
  }
}

export const serviceSchemas = ['users', 'channels', 'messaging', 'event_queue', 'presence'] as const;

/** The URL a service connects with: its own role, which reaches its own schema and the log's functions. */
export function serviceUrl(url: string, schema: (typeof serviceSchemas)[number], password: string): string {
  const parsed = new URL(url);
  parsed.username = `natter_${schema}`;
  parsed.password = password;
  return parsed.href;
}
