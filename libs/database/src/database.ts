import pg from 'pg';
import { createSqlTag, type QuerySqlToken } from 'slonik';
import { z } from 'zod';
import { type Connection, connectWithin, type Source, type Statement, sendCancel } from './connection.ts';
import { createFreedConnections } from './freed-connections.ts';
import { findLostStatements } from './lost-statements.ts';
import { isUnprepared, preparedName } from './prepared.ts';
import { createTurns } from './turns.ts';

/** Builds queries: values become parameters, rows are parsed by the zod schema given to `sql.type`. */
export const sql = createSqlTag();

/** Marks statements whose best plan depends on the values: they are planned each time. */
export const plannedEachTime = sql.fragment`/* planned each time */`;

type Parser = QuerySqlToken['parser'];
/** A part of a query. */
export type Fragment = ReturnType<typeof sql.fragment>;
type Row<P extends Parser> = NonNullable<P['~standard']['types']>['output'];
export type Query<P extends Parser = Parser> = QuerySqlToken<P>;

/** Runs queries built by `sql`: a pool or one transaction. */
export interface Executor {
  any<P extends Parser>(query: Query<P>): Promise<Row<P>[]>;
  maybeOne<P extends Parser>(query: Query<P>): Promise<Row<P> | undefined>;
  one<P extends Parser>(query: Query<P>): Promise<Row<P>>;
  run(query: Query): Promise<number>;
}

export interface Database extends Executor {
  /** Runs `work` on one connection, until the deadline. A transaction that it leaves open is rolled back. */
  connect<R>(work: (connection: Connection) => Promise<R>): Promise<R>;
  connections(): { busy: number; idle: number; waiting: number };
  close(): Promise<void>;
}

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
    // int8: log numbers and ids stay far below 2^53.
    if (oid === 20) return Number;
    return pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown;
  },
};

export function createDatabase(options: {
  url: string;
  maxConnections: number;
  name: string;
  onError: (error: Error) => void;
}): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.name,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    types,
  });
  pool.on('error', options.onError);
  // A connection may break between its check-out and the first listener of its user; then its first statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const lost = findLostStatements(options.url, options.name, options.onError);
  pool.on('connect', lost.connected);
  return databaseOn({ pool, cancel: sendCancel, lost }, options.maxConnections);
}

/** A database over a pool with this many connections. */
export function databaseOn(given: Omit<Source, 'turns' | 'freed'>, maxConnections: number): Database {
  const { pool, lost } = given;
  const turns = createTurns(maxConnections);
  const freed = createFreedConnections();
  const connect: Database['connect'] = (work) => connectWithin({ ...given, turns, freed }, work);
  return {
    ...executor(async (query) => {
      try {
        return await connect((connection) => connection.query(query));
      } catch (error) {
        if (!isUnprepared(error)) throw error;
        return await connect((connection) => connection.query({ text: query.text, values: query.values }));
      }
    }),
    connect,
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: turns.waiting,
    }),
    close: () => {
      lost?.stop();
      return pool.end();
    },
  };
}

export function executor(send: (query: Statement) => Promise<pg.QueryResult>): Executor {
  const any: Executor['any'] = async (query) => {
    const { rows } = await send(toPg(query));
    return rows.map((row) => parseRow(query.parser, row));
  };
  return {
    any,
    maybeOne: async (query) => (await any(query))[0],
    one: async (query) => {
      const [row] = await any(query);
      if (row === undefined) throw new Error('A query that must return a row returned none');
      return row;
    },
    run: async (query) => (await send(toPg(query))).rowCount ?? 0,
  };
}

type Reads = Record<string, Query<Parser>>;
/** The rows of each query, by its name. */
export type Results<Q extends Reads> = { [Name in keyof Q]: Row<Q[Name]['parser']>[] };

/**
 * Runs several reads as one statement, to save round trips: returns the rows of each, in its order. Values travel as
 * JSON, so columns are numbers, texts, booleans, null, or lists of them.
 */
export async function readAtOnce<Q extends Reads>(executor: Executor, queries: Q): Promise<Results<Q>> {
  const columns = columnsOf(queries, sql.fragment`true`);
  return resultsOf(queries, await executor.one(sql.type(anyRow)`SELECT ${sql.join(columns, sql.fragment`, `)}`));
}

/**
 * Like `readAtOnce`, but runs the queries only if `condition` holds, an aggregate over the rows of `first`, which are the
 * table `first_rows`. `rest` is undefined if it does not hold. No query may have the name `first_rows` or `holds`.
 */
export async function readAtOnceIf<F extends Query<Parser>, Q extends Reads>(
  executor: Executor,
  { first, condition }: { first: F; condition: Fragment },
  queries: Q,
): Promise<{ first: Row<F['parser']>[]; rest: Results<Q> | undefined }> {
  const columns = columnsOf(queries, sql.fragment`(SELECT holds FROM decision)`);
  const row = await executor.one(sql.type(anyRow)`
    WITH first_rows AS MATERIALIZED (${first}), decision AS MATERIALIZED (SELECT ${condition} AS holds FROM first_rows)
    SELECT (SELECT coalesce(json_agg(first_rows), '[]') FROM first_rows) AS first_rows, (SELECT holds FROM decision) AS holds,
      ${sql.join(columns, sql.fragment`, `)}`);
  const { first_rows } = resultsOf({ first_rows: first }, row);
  return { first: first_rows, rest: row.holds === true ? resultsOf(queries, row) : undefined };
}

const anyRow = z.record(z.string(), z.unknown());

const resultsOf = <Q extends Reads>(queries: Q, row: Record<string, unknown>): Results<Q> =>
  Object.fromEntries(
    Object.entries(queries).map(([name, { parser }]) => [name, parseRow(listOf(parser), row[name])]),
  ) as Results<Q>;

/** Lists are cached, because zod compiles each new schema. */
const listsOf = new WeakMap<object, z.ZodType>();
function listOf(parser: Parser): z.ZodType {
  const known = listsOf.get(parser);
  if (known) return known;
  const list = z.array(parser as z.ZodType);
  listsOf.set(parser, list);
  return list;
}

const columnsOf = (queries: Reads, condition: Fragment): Fragment[] =>
  Object.entries(queries).map(
    ([name, query]) =>
      sql.fragment`(SELECT coalesce(json_agg(q), '[]') FROM (${query}) q WHERE ${condition}) AS ${sql.identifier([name])}`,
  );

function parseRow<P extends Parser>(parser: P, row: unknown): Row<P> {
  const parsed = parser['~standard'].validate(row);
  if (parsed instanceof Promise) throw new Error('Row schemas are synchronous');
  if (parsed.issues) throw new Error(`A row does not fit its schema: ${JSON.stringify(parsed.issues)}`);
  return parsed.value as Row<P>;
}

/** Slonik names its placeholders `$slonik_1`; its own pool uses only the extended protocol, see ADR 1. */
function toPg(query: Query): Statement {
  const text = query.sql.replaceAll('$slonik_', '$');
  const name = preparedName(text);
  return { ...(name === undefined ? {} : { name }), text, values: [...query.values] };
}

/** A query with its values as escaped literals, to be joined into one simple-protocol message. */
export function toLiteralSql(query: Query): string {
  return query.sql.replace(/\$slonik_(\d+)/g, (_, position: string) => literal(query.values[Number(position) - 1]));
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') {
    // A NUL character would end the message to PostgreSQL.
    if (value.includes('\0')) throw new Error('A text with a NUL character cannot be stored');
    return quoted(value);
  }
  if (Array.isArray(value)) return quoted(JSON.stringify(value).replace(/^\[/, '{').replace(/\]$/, '}'));
  throw new Error(`No literal for a value of type ${typeof value}`);
}

/** Like `escapeLiteral` of pg, which processes a text character by character, and would take seconds for the events of a unit. */
function quoted(text: string): string {
  const literal = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${literal.replaceAll('\\', '\\\\')}` : literal;
}
