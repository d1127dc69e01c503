import type pg from 'pg';
import { type Command, readOptions, UsageError } from './command.ts';
import { storedRealm, withPostgres } from './postgres.ts';

export const searchLanguage: Command = {
  name: 'realm search-language',
  usage: '--host HOST [--language LANGUAGE]',
  summary: 'Set the language that messages are searched in, or print it and whether all messages are indexed by it',
  run: async (args, output) => {
    const options = readOptions(args, ['host'], ['language']);
    return withPostgres(async (client) => {
      const realm = await storedRealm(client, options.host);
      if (options.language !== undefined) await setLanguage(client, realm.id, options.language);
      const { rows } = await client.query<{ language: string; is_complete: boolean }>(
        `SELECT coalesce(i.language, 'english') AS language, i.below IS NULL AS is_complete
        FROM (SELECT $1::int AS id) r LEFT JOIN messaging.search_index i ON i.realm_id = r.id`,
        [realm.id],
      );
      output.record({ host: realm.host, ...rows[0] });
      return 0;
    });
  },
};

async function setLanguage(client: pg.Client, realmId: number, language: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT cfgname AS name FROM pg_ts_config WHERE cfgnamespace = 'pg_catalog'::regnamespace ORDER BY 1`,
  );
  const names = rows.map(({ name }) => name);
  if (!names.includes(language)) throw new UsageError(`${language} is not one of ${names.join(', ')}`);
  await client.query('SELECT messaging.set_search_language($1, $2)', [realmId, language]);
}
