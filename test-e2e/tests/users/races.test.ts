/** Two changes at once: the first waits before its commit while the second begins. */
import { type Answer, connected, openRealm, type Realm } from '@natter/testkit';
import { beforeEach, expect, test } from 'vitest';

let realm: Realm;
beforeEach(async () => {
  realm = await openRealm({ havePasswords: true });
});

/** The transactions of the service that wait for one of another process, or for one that waits for it. */
const waitingFor = `
  WITH RECURSIVE waits AS (
      SELECT pid, pg_blocking_pids(pid) AS by FROM pg_stat_activity WHERE usename = 'natter_users'),
    found AS (SELECT pid FROM waits WHERE $1 = ANY (by) UNION SELECT w.pid FROM waits w, found WHERE found.pid = ANY (w.by))
  SELECT pid FROM found`;

/** Holds the clock of the realm, which a commit needs, until each change waits in its transaction. */
const atOnce = (...changes: (() => Promise<Answer>)[]): Promise<Answer[]> =>
  connected((clock) =>
    connected(async (observer) => {
      await clock.query('BEGIN');
      const { rows } = await clock.query<{ pid: number }>(
        'SELECT pg_backend_pid() AS pid FROM log.clock WHERE realm_id = $1 FOR UPDATE',
        [realm.id],
      );
      const waiting = async (): Promise<number> => (await observer.query(waitingFor, [rows[0]?.pid])).rows.length;
      const begun: Promise<Answer>[] = [];
      try {
        for (const change of changes) {
          const before = await waiting();
          begun.push(change());
          await expect.poll(waiting).toBeGreaterThan(before);
        }
      } finally {
        await clock.query('ROLLBACK');
      }
      return Promise.all(begun);
    }),
  );

const statuses = (answers: Answer[]): number[] => answers.map(({ status }) => status);

test('a domain that is removed while another one is added leaves the restriction to domains', async () => {
  const { owner } = realm;
  await owner.ok('POST', '/realm/domains', { domain: 'first.example', allow_subdomains: false });
  await owner.ok('PATCH', '/realm', { emails_restricted_to_domains: true });
  const answers = await atOnce(
    () => owner.post('/realm/domains', { domain: 'second.example', allow_subdomains: false }),
    () => owner.delete('/realm/domains/first.example'),
  );
  expect(statuses(answers)).toEqual([200, 200]);
  const state = await owner.ok('POST', '/register', { fetch_event_types: ['realm', 'realm_domains'] });
  expect([state.realm_domains, state.realm_emails_restricted_to_domains]).toEqual([
    [{ domain: 'second.example', allow_subdomains: false }],
    true,
  ]);
});
