/** A login that was checked before a change and stored after it: the change waits in a transaction until the login does. */
import { createHmac } from 'node:crypto';
import { type Answer, connected, openRealm, type Realm } from '@natter/testkit';
import type pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { Browser } from '../browser.ts';

const secret = 'the secret with which tokens are signed here';
let realm: Realm;
beforeAll(async () => {
  realm = await openRealm({ havePasswords: true });
  await realm.setJwtKey('HS256', secret);
});

const refused = ({ status, body }: Answer) => [status, body.code];

/**
 * Makes a change that is committed while the login waits for the lock of the changed row. A login that does not wait has
 * ended before the commit.
 */
const during = (change: string, values: unknown[], login: () => Promise<Answer>): Promise<Answer> =>
  connected(async (holder) => {
    await holder.query('BEGIN');
    expect((await holder.query(change, values)).rowCount).toBe(1);
    let isAnswered = false;
    const answer = login().finally(() => {
      isAnswered = true;
    });
    await connected((observer) =>
      expect.poll(async () => isAnswered || (await isWaitedFor(observer, holder))).toBe(true),
    );
    await holder.query('COMMIT');
    return answer;
  });

async function isWaitedFor(observer: pg.Client, holder: pg.Client): Promise<boolean> {
  const { pid } = (await holder.query('SELECT pg_backend_pid() AS pid')).rows[0];
  const waiting = await observer.query('SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))', [pid]);
  return waiting.rowCount !== 0;
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
function tokenOf(email: string): string {
  const text = `${encoded({ alg: 'HS256' })}.${encoded({ email })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

test('a login fails if the address or the password changes during it', async () => {
  const { spectator } = realm;
  const changes: [change: string, value: string][] = [
    ['UPDATE users.account SET email = $2 WHERE id = $1', 'new'],
    ['UPDATE users.account SET password_hash = $2 WHERE id = $1', 'another'],
  ];
  for (const [change, value] of changes) {
    const logins: ((email: string, password: string) => Promise<Answer>)[] = [
      (username, password) => spectator.post('/fetch_api_key', { username, password }),
      (username, password) => new Browser(spectator).login(username, password),
      (email) => spectator.post('/jwt/fetch_api_key', { token: tokenOf(email) }),
    ];
    for (const [index, login] of logins.entries()) {
      const person = await realm.person();
      const { status, body } = await during(change, [person.user_id, `${value}${index}@${realm.host}`], () =>
        login(person.email, person.password),
      );
      expect([change, index, status]).toEqual([change, index, 401]);
      expect(JSON.stringify(body)).not.toContain('api_key');
    }
  }
});

test('a login with a token fails if the JWT key is removed or replaced during it', async () => {
  const login = () => realm.spectator.post('/jwt/fetch_api_key', { token: tokenOf(realm.member.email) });
  const removed = await during('DELETE FROM users.jwt_key WHERE realm_id = $1', [realm.id], login);
  expect(refused(removed)).toEqual([400, 'BAD_REQUEST']);
  expect(removed.body.msg).toBe('JWT authentication is not enabled for this organization');
  await realm.setJwtKey('HS256', secret);
  expect((await login()).status).toBe(200);
  const changed = await during("UPDATE users.jwt_key SET algorithm = 'HS512' WHERE realm_id = $1", [realm.id], login);
  expect([...refused(changed), changed.body.msg]).toEqual([400, 'BAD_REQUEST', 'Bad JSON web token']);
});
