import { type Json, openRealm, type Realm } from '@natter/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

let realm: Realm;
let postgres: pg.Pool;
beforeAll(() => {
  postgres = new pg.Pool({ connectionString: inject('natterPostgresUrl'), max: 1 });
});
afterAll(() => postgres?.end());
/** A test in a new realm. It is done again if it fails while midnight passes, when the counts begin anew. */
const testInOneDay = (name: string, work: () => Promise<void>) =>
  test(name, async () => {
    const today = () => new Date().toISOString().slice(0, 10);
    for (;;) {
      const day = today();
      realm = await openRealm();
      try {
        return await work();
      } catch (error) {
        if (day === today()) throw error;
      }
    }
  });

const invite = (emails: string[], who = realm.owner) =>
  who.patiently('POST', '/invites', { invitee_emails: emails.join(','), stream_ids: [] });
const some = (count: number, of: string): string[] =>
  Array.from({ length: count }, (_, index) => `${of}${index}@natter.example`);

testInOneDay('a user can send 200 invitations a day, and other users are not affected', async () => {
  expect((await invite(some(100, 'a'))).status).toBe(200);
  expect((await invite(some(50, 'b'))).status).toBe(200);
  const tooMany = await invite(some(51, 'c'));
  expect([tooMany.status, tooMany.body.code, tooMany.body.daily_limit_reached, tooMany.body.sent_invitations]).toEqual([
    400,
    'INVITATION_FAILED',
    true,
    false,
  ]);
  // Refused invitations do not count.
  expect((await realm.owner.ok('GET', '/invites')).invites).toHaveLength(150);
  expect((await invite(some(50, 'd'))).status).toBe(200);
  expect((await invite(some(1, 'e'))).body.daily_limit_reached).toBe(true);
  expect((await invite(some(1, 'e'), realm.administrator)).status).toBe(200);
});

testInOneDay(
  'an address receives at most ten invitations a day, from all users and in all spellings together',
  async () => {
    await invite(['victim@natter.example']);
    const [{ id }] = (await realm.owner.ok('GET', '/invites')).invites as [Json];
    const resent = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 === 0 ? realm.owner : realm.administrator).patiently('POST', `/invites/${id}/resend`),
      ),
    );
    expect(resent.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const others = await Promise.all(
      ['Victim', 'victim+1', 'victim+2', 'VICTIM+3', 'victim+4', 'victim+5'].map((name) =>
        invite([`${name}@natter.example`], realm.member),
      ),
    );
    expect(others.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { status, body } of others) if (status !== 200) expect(body.daily_limit_reached).toBe(true);
    const last = await realm.owner.patiently('POST', `/invites/${id}/resend`);
    expect([last.status, last.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
    expect((await invite(['somebody-else@natter.example'])).status).toBe(200);
  },
);

testInOneDay('a repeated request with an Idempotency-Key does not send mail again', async () => {
  const header = { 'idempotency-key': 'invite once' };
  const form = { invitee_emails: 'once@natter.example', stream_ids: [] };
  for (let round = 0; round < 12; round++)
    expect((await realm.owner.patiently('POST', '/invites', form, header)).status).toBe(200);
  expect((await invite(['ONCE+2@natter.example'])).status).toBe(200);
});

testInOneDay(
  'joining by a link that verifies the address sends one mail, even if the request is repeated meanwhile',
  async () => {
    const { invite_link } = await realm.owner.ok('POST', '/invites/multiuse');
    const key = invite_link.split('/').at(-2);
    await realm.owner.ok('PATCH', '/realm', { invite_links_verify_email: true });
    const newcomer = { email: 'newcomer@natter.example', full_name: 'New', password: 'a long password' };
    const send = (path: string, form: Json) =>
      Array.from({ length: 6 }, () => realm.spectator.patiently('POST', path, form, { 'idempotency-key': path }));
    const answers = await Promise.all([...send('/join', { key, ...newcomer }), ...send(`//join/${key}`, newcomer)]);
    expect(answers.map(({ status, body }) => [status, body.is_mail_sent])).toEqual([
      ...Array(6).fill([400, true]),
      ...Array(6).fill([200, undefined]),
    ]);
    const { rows } = await postgres.query(
      `SELECT sent FROM users.mail_count WHERE realm_id = $1 AND kind = 'address link'`,
      [realm.id],
    );
    expect(rows).toEqual([{ sent: 2 }]);
  },
);
