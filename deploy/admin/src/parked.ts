import { serviceSchemas } from '@natter/database';
import type pg from 'pg';
import { type Command, readOptions, UsageError } from './command.ts';
import type { Output } from './output.ts';
import { connectPostgres } from './postgres.ts';

export const listParked: Command = {
  name: 'parked list',
  usage: '',
  summary: 'List the events that a consumer put aside, with their errors',
  run: async (args, output) => {
    readOptions(args, [], []);
    return withAdmin(async (client) => {
      const parts = serviceSchemas.map(
        (schema) => `
        SELECT '${schema}' AS service, p.name AS consumer, p.realm_id AS realm, p.number::int, e.type, p.error,
          p.parked_at, p.is_asked_for AS "to apply"
        FROM ${schema}.parked_event p LEFT JOIN log.event e ON e.realm_id = p.realm_id AND e.number = p.number`,
      );
      const { rows } = await client.query(`${parts.join(' UNION ALL ')} ORDER BY 1, 2, 3, 4`);
      output.table(rows, 'no event is parked');
      return 0;
    });
  },
};

export const applyParked: Command = {
  name: 'parked apply',
  usage: '--service S --consumer C --realm R --number N',
  summary: 'Let a consumer apply an event once more that it put aside',
  run: (args, output) => change(args, output, (schema) => `UPDATE ${schema}.parked_event SET is_asked_for = true`),
};

export const dropParked: Command = {
  name: 'parked drop',
  usage: '--service S --consumer C --realm R --number N',
  summary: 'Forget an event that a consumer put aside',
  run: (args, output) => change(args, output, (schema) => `DELETE FROM ${schema}.parked_event`),
};

function change(args: string[], output: Output, statement: (schema: string) => string): Promise<number> {
  const options = readOptions(args, ['service', 'consumer', 'realm', 'number'], []);
  const schema = serviceSchemas.find((name) => name === options.service.replaceAll('-', '_'));
  if (!schema) throw new UsageError(`--service is one of ${serviceSchemas.join(', ')}`);
  const [realm, number] = [options.realm, options.number].map((text) => {
    if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${text} is not a number`);
    return Number(text);
  });
  return withAdmin(async (client) => {
    const { rowCount } = await client.query(`${statement(schema)} WHERE name = $1 AND realm_id = $2 AND number = $3`, [
      options.consumer,
      realm,
      number,
    ]);
    if (rowCount === 0) throw new Error('no such event is parked: see natter parked list');
    output.done(`${rowCount} changed`, { changed: rowCount });
    return 0;
  });
}

async function withAdmin<R>(work: (client: pg.Client) => Promise<R>): Promise<R> {
  const client = await connectPostgres({ query_timeout: 30_000, statement_timeout: 30_000, lock_timeout: 10_000 });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
