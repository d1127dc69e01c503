import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequestMeta, roles, userOperations } from '@natter/contracts';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import type { Identity } from '../load/request.ts';

export interface BenchRealm {
  id: number;
  host: string;
  owner: Identity;
  people: Identity[];
}

/** A new realm with its users, created with the operator's commands. */
export async function createRealm(
  bench: Bench,
  name: string,
  people: number,
  role: number = roles.member,
): Promise<BenchRealm> {
  const host = `${name}-${randomBytes(4).toString('hex')}.natter.example`;
  const bus = await bench.operator();
  const meta: RequestMeta = { requestId: 'bench', realmId: 0, client: 'bench' };
  const { realm_id: id } = await bus.call(
    userOperations.createRealm,
    { host, realm_name: name, is_default: false, realm_url: `http://${host}`, owner: undefined },
    { meta },
  );
  const add = async (email: string, full_name: string, role: number): Promise<Identity> => {
    const isOwner = role === roles.owner;
    const account = {
      email,
      full_name,
      password: undefined,
      role,
      can_create_users: isOwner,
      can_change_user_emails: isOwner,
    };
    const made = await bus.call(userOperations.addPerson, account, {
      meta: { ...meta, realmId: id },
      timeoutMs: 60_000,
    });
    return { email, ...made };
  };
  const owner = await add(`owner@${host}`, 'Olivia Owner', roles.owner);
  const numbers = Array.from({ length: people }, (_, index) => index);
  const made = await inParallel(numbers, 32, async (index) => {
    if (index > 0 && index % 5_000 === 0) bench.log(`${name}: ${index} of ${people} people`);
    return add(`person${index}@${host}`, `Person ${index}`, role);
  });
  return { id, host, owner, people: made };
}

/** An expensive realm is created once and reused by later runs, as long as the tables stay the same. */
export async function keptRealm(bench: Bench, name: string, make: () => Promise<BenchRealm>): Promise<BenchRealm> {
  const folder = join(bench.directory, 'data', 'realms');
  const file = join(folder, `${name}.json`);
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept) as BenchRealm;
  const startedAt = Date.now();
  bench.log(`${name}: making its data`);
  const realm = await make();
  await consumed(bench, realm);
  await bench.sql('ANALYZE');
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(realm), { mode: 0o600 });
  bench.log(`${name}: made in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  return realm;
}

/**
 * Waits until every service has consumed the events of this realm, so that no service works on them later. Positions
 * are stored every ten seconds; requests include earlier events in any case.
 */
export async function consumed(bench: Bench, realm: Pick<BenchRealm, 'id'>): Promise<void> {
  const schemas = ['users', 'channels', 'messaging', 'presence', 'event_queue'];
  const all = schemas.map((schema) => `SELECT '${schema}' AS schema, realm_id, name, position FROM ${schema}.consumer`);
  for (const end = Date.now() + 600_000; ; await sleep(100)) {
    const [row] = await bench.sql<{ behind: string }>(
      `WITH consumer AS (${all.join(' UNION ALL ')}),
        here AS (SELECT c.position FROM (SELECT DISTINCT schema, name FROM consumer) k
          LEFT JOIN consumer c ON c.schema = k.schema AND c.name = k.name AND c.realm_id = $1)
      SELECT max(l.number - coalesce(h.position, 0)) AS behind FROM here h, log.clock l WHERE l.realm_id = $1`,
      [realm.id],
    );
    if (Number(row?.behind ?? 0) <= 0) return;
    if (Date.now() > end) throw new Error(`consumers are ${row?.behind} events behind`);
  }
}
