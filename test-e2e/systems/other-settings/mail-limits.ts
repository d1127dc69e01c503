import { createDatabase, type Database, sql } from '@natter/database';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Answer } from '../../api.ts';
import { requestOnce } from '../../patience.ts';
import { mails, system } from './system.ts';

/** Runs `work` while so many mails of a kind were sent today, and also tomorrow, because midnight may pass meanwhile. */
async function withSent(
  kind: string,
  subject: string,
  sent: number,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = createDatabase({
    url: system.servers.postgresUrl,
    maxConnections: 1,
    name: 'test',
    onError: () => undefined,
  });
  const reset = () =>
    database.run(sql.unsafe`DELETE FROM users.mail_count WHERE kind = ${kind} AND subject = ${subject}`);
  try {
    await reset();
    await database.run(sql.unsafe`
      INSERT INTO users.mail_count (realm_id, day, kind, subject, sent)
      SELECT (SELECT realm_id FROM users.account WHERE id = ${system.people.owner.user_id}),
        (now() AT TIME ZONE 'UTC')::date + days, ${kind}, ${subject}, ${sent} FROM generate_series(0, 1) days`);
    await work(database);
  } finally {
    await reset();
    await database.close();
  }
}

const post = async (path: string, network: string, fields: Record<string, string>) => {
  const response = await fetch(`${system.url}${path}`, {
    method: 'POST',
    headers: { 'x-forwarded-for': network },
    body: new URLSearchParams(fields),
  });
  return { status: response.status, text: (await response.text()).replace(/name="idempotency_key"[^>]*/g, '') };
};
const owner = async (method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> => {
  const { status, body } = await requestOnce(system.url, system.people.owner, `${method} ${path}`, form);
  expect([status, body.msg]).toEqual([200, '']);
  return body;
};
const receivedBy = (address: string) => mails.received.filter(({ to }) => to.includes(address));

let people = 0;
const password = 'a rather good password';
async function person(): Promise<string> {
  const email = `limited${++people}@natter.example`;
  await owner('POST', '/users', { email, password, full_name: `Limited ${people}` });
  return email;
}

const countRow = z.object({ kind: z.string(), subject: z.string(), sent: z.number() });
/** The mails that were sent today, and those of tomorrow, by kind and subject. */
async function sentOf(database: Database, kind: string): Promise<Record<string, number>> {
  const rows = await database.any(sql.type(countRow)`
    SELECT kind, subject, sum(sent)::int AS sent FROM users.mail_count WHERE kind LIKE ${`% ${kind}`} GROUP BY kind, subject`);
  return Object.fromEntries(rows.map((row) => [`${row.kind} ${row.subject}`, row.sent]));
}
const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

test('the limit of password reset links per organization is not revealed and does not affect other mails', async () => {
  const [limited, later] = [await person(), await person()];
  const ask = (email: string) => post('/accounts/password/reset', '192.0.2.201', { email });
  await withSent('realm password', '', 2_000, async (database) => {
    const answer = await ask(limited);
    expect([answer, answer.status]).toEqual([await ask('nobody-there@natter.example'), 200]);
    await expect.poll(() => database.any(sql.unsafe`SELECT FROM users.password_request`)).toEqual([]);
    await owner('POST', '/invites', { invitee_emails: 'invited-anyway@natter.example', stream_ids: [] });
    await mails.next('invited-anyway@natter.example');
  });
  await ask(later);
  expect((await mails.next(later)).link).toContain('/accounts/password/reset/');
  expect(receivedBy(limited)).toEqual([]);
});

test('the limits of links to join respond alike for addresses with and without an account', async () => {
  const existing = await person();
  const link: string = (await owner('POST', '/invites/multiuse')).invite_link;
  await owner('PATCH', '/realm', { invite_links_verify_email: true });
  const join = (network: string, email: string) => post(new URL(link).pathname.replace(/\/$/, ''), network, { email });
  // The text without the address, which the form shows again.
  const told = async (network: string, email: string) => {
    const { status, text } = await join(network, email);
    return [status, text.replaceAll(email, '')];
  };
  try {
    // All networks of an IPv6 /48 count as one.
    for (const [subject, ...networks] of [
      ['192.0.2.202', '192.0.2.202'],
      ['2001:db8:77', '2001:db8:77:1::1', '2001:db8:77:2::1'],
    ] as const)
      await withSent('network link', subject, 200, async () => {
        for (const network of networks) {
          const answer = await told(network, 'refused-here@natter.example');
          expect(answer).toEqual([400, expect.stringContaining('requested from your network today')]);
          expect(await told(network, existing)).toEqual(answer);
        }
        const elsewhere = `joins-from-elsewhere${subject.length}@natter.example`;
        expect((await join('192.0.2.203', elsewhere)).status).toBe(200);
        await mails.next(elsewhere);
      });
    await withSent('realm link', '', 2_000, async () => {
      const answer = await told('192.0.2.204', 'refused-here@natter.example');
      expect(answer).toEqual([400, expect.stringContaining('has sent too many mails today')]);
      expect(await told('192.0.2.204', existing)).toEqual(answer);
    });
    // The answer does not show that others requested mails to an address.
    await withSent('address link', 'often-asked@natter.example', 10, async () => {
      expect((await join('192.0.2.205', 'often-asked@natter.example')).text).toContain('a link is on its way');
    });
    expect([...receivedBy('refused-here@natter.example'), ...receivedBy('often-asked@natter.example')]).toEqual([]);
  } finally {
    await owner('PATCH', '/realm', { invite_links_verify_email: false });
  }
});

test('notices above the limit of one person use up no mails of the organization', async () => {
  const email = await person();
  await withSent('address login', email, 10, async (database) => {
    const found = z.object({ id: z.number() });
    const { id } = await database.one(sql.type(found)`
      UPDATE users.account SET joined_at = now() - interval '1 hour' WHERE email = ${email} RETURNING id`);
    const before = await sentOf(database, 'login');
    const { status } = await post('/api/v1/fetch_api_key', '192.0.2.206', { username: email, password });
    expect(status).toBe(200);
    expect(sumOf(await sentOf(database, 'login'))).toBe(sumOf(before));
    await withSent('address deactivation', email, 10, async () => {
      const noticed = sumOf(await sentOf(database, 'deactivation'));
      await owner('DELETE', `/users/${id}`, { deactivation_notification_comment: 'Goodbye.' });
      expect(sumOf(await sentOf(database, 'deactivation'))).toBe(noticed);
    });
  });
  expect(receivedBy(email)).toEqual([]);
});

test('a link to join that verifies addresses does the same work for an address with an account', async () => {
  const known = await person();
  const path = new URL((await owner('POST', '/invites/multiuse')).invite_link).pathname.replace(/\/$/, '');
  await owner('PATCH', '/realm', { invite_links_verify_email: true });
  try {
    await withSent('network link', '192.0.2.207', 0, async (database) => {
      const countedRow = z.object({ invitations: z.number() });
      const effectOf = async (email: string) => {
        const [before, mailed] = [await sentOf(database, 'link'), receivedBy(email).length];
        const answer = await post(path, '192.0.2.207', { email });
        const { link, text } = await mails.next(email);
        const after = await sentOf(database, 'link');
        const { invitations } = await database.one(sql.type(countedRow)`
          SELECT count(*)::int AS invitations FROM users.invitation WHERE email = ${email}`);
        const effect = {
          answer,
          invitations,
          mails: receivedBy(email).length - mailed,
          counts: sumOf(after) - sumOf(before),
        };
        return { effect, link, text };
      };
      const [unknown, ofKnown] = [await effectOf('unknown-to-all@natter.example'), await effectOf(known)];
      expect(ofKnown.effect).toEqual(unknown.effect);
      expect(unknown.effect).toMatchObject({ invitations: 1, mails: 1, counts: 3 });
      expect(unknown.link).toContain('/accounts/do_confirm/');
      expect(ofKnown.link).toBe(`${system.url}/accounts/password/reset`);
      expect(ofKnown.text).not.toContain('do_confirm');
    });
  } finally {
    await owner('PATCH', '/realm', { invite_links_verify_email: false });
  }
});
