import { setTimeout as pause } from 'node:timers/promises';
import { differencesOf, type Projection, projections } from '@natter/contracts';
import type pg from 'pg';
import { type Finding, fail, ok, runbook, section } from './finding.ts';
import { connectPostgres } from './postgres.ts';

/** The realms to compare: the one with this host, or a random sample of this size. */
export type Compared = { host: string } | { sample: number };

interface Realm {
  id: number;
  host: string;
}

interface Difference {
  is: 'extra' | 'missing';
  row: object;
}

const behindMs = 30_000;
const statementMs = 300_000;
/** Rows that are shown for each projection of a realm. */
const maxShown = 10;

/** Compares each projection with the tables of its owner. */
export async function checkProjections(compared: Compared): Promise<Finding[]> {
  const client = await connectPostgres({ statement_timeout: statementMs, lock_timeout: 10_000 });
  try {
    const realms = await realmsOf(client, compared);
    const findings: Finding[] = [];
    for (const projection of projections) {
      const problems: Finding[] = [];
      for (const realm of realms) problems.push(...(await compare(client, projection, realm)));
      const subject = `projection ${projection.table}`;
      findings.push(...(problems.length > 0 ? problems : [ok(subject, `equals its source in ${counted(realms)}`)]));
    }
    return findings;
  } finally {
    await client.end();
  }
}

async function realmsOf(client: pg.Client, compared: Compared): Promise<Realm[]> {
  const [condition, value] =
    'host' in compared ? ['AND host = $1', compared.host] : ['ORDER BY random() LIMIT $1', compared.sample];
  const { rows } = await client.query<Realm>(
    `SELECT id, host FROM users.realm WHERE deletion_started_at IS NULL ${condition}`,
    [value],
  );
  if ('host' in compared && rows.length === 0) throw new Error(`no realm has the host ${compared.host}`);
  return rows;
}

/** Waits for a moment at which the consumer has no event of the projection left: then both must be equal. */
async function compare(client: pg.Client, projection: Projection, { id, host }: Realm): Promise<Finding[]> {
  const subject = `projection ${projection.table}`;
  for (const end = performance.now() + behindMs; ; await pause(200)) {
    const differences = await read(client, projection, id);
    if (differences?.length === 0) return [];
    if (differences) return [fail(subject, `${host}: ${described(differences)}`, section('projections-that-differ'))];
    if (performance.now() > end)
      return [
        fail(subject, `${host}: not compared, its consumer is behind all the time`, runbook('NatterConsumerLagging')),
      ];
  }
}

/** The differences in one snapshot; undefined if an event of the projection is not applied in it. */
async function read(client: pg.Client, projection: Projection, realmId: number): Promise<Difference[] | undefined> {
  const { service, consumer, events } = projection;
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const { rows } = await client.query(
      `SELECT FROM log.event e WHERE e.realm_id = $1 AND concat_ws('/', e.event->>'type', e.event->>'op') = ANY($3)
        AND e.number > coalesce((SELECT position FROM ${service.replaceAll('-', '_')}.consumer WHERE realm_id = $1 AND name = $2), 0)
        LIMIT 1`,
      [realmId, consumer, [...events]],
    );
    return rows.length > 0 ? undefined : (await client.query<Difference>(differencesOf(projection, realmId))).rows;
  } finally {
    await client.query('ROLLBACK');
  }
}

function described(differences: readonly Difference[]): string {
  const shown = differences.slice(0, maxShown).map(({ is, row }) => `${is} ${JSON.stringify(row)}`);
  const more = differences.length - shown.length;
  return [`${differences.length} rows differ`, ...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const counted = ({ length }: readonly Realm[]): string => `${length} ${length === 1 ? 'realm' : 'realms'}`;
