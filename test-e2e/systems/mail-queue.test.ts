import { randomUUID } from 'node:crypto';
import { type Database, sql } from '@natter/database';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { removeEndedInvitations } from '../../services/users/src/invitations/invitation-sweep.ts';
import { createKeySeal } from '../../services/users/src/model/credentials/key-seal.ts';
import { request } from '../api.ts';
import { type MailRules, type MailServer, startMailServer } from '../mail-server.ts';
import { metric } from '../metrics.ts';
import { openDatabase } from '../open-servers.ts';
import { openSystem } from '../open-system.ts';

let system: System;
let mails: MailServer;
let database: Database;
const rules: MailRules = {};
const earlierSecret = 'an earlier secret';
beforeAll(async () => {
  mails = await startMailServer(rules);
  system = await openSystem({
    replicas: { users: 2 },
    gateways: 1,
    env: {
      NATTER_SMTP_URL: mails.url,
      NATTER_BOT_KEY_SECRET_PREVIOUS: earlierSecret,
    },
  });
  database = openDatabase(system.servers.postgresUrl, 1);
});
afterAll(async () => {
  await database?.close();
  await system?.stop();
  await mails?.stop();
});
beforeEach(() => {
  rules.refusal = () => undefined;
  rules.beforeConfirmation = async () => undefined;
});

const invite = async (...addresses: string[]): Promise<void> => {
  const form = { invitee_emails: addresses.join(','), stream_ids: [] };
  const who = { ...system.people.owner, headers: { 'idempotency-key': randomUUID() } };
  // On a busy machine a request may end before its answer.
  await expect.poll(async () => (await request(system.url, who, 'POST /invites', form)).status).toBe(200);
};
const waiting = async (): Promise<string[]> =>
  (await database.any(sql.type(z.object({ sealed: z.string() }))`SELECT sealed FROM users.mail ORDER BY id`)).map(
    ({ sealed }) => sealed,
  );
/** The next attempts begin now, as if they were the first; processes that were sending mails count as lost. */
const hurry = () => database.run(sql.unsafe`UPDATE users.mail SET due_at = now(), attempts = 0`);
const receivedBy = (to: string): number => mails.received.filter((mail) => mail.to.includes(to)).length;

async function killUsers(): Promise<void> {
  for (const child of system.children.filter(({ program }) => program === 'users')) {
    const before = child.pid();
    child.kill('SIGKILL');
    await expect.poll(() => child.pid() !== before).toBe(true);
    await child.ready();
  }
}

test('mails that wait for the mail server survive the death of all processes and are stored encrypted', async () => {
  rules.refusal = () => 451;
  const email = 'waits@natter.example';
  await invite(email);
  const reset = new URLSearchParams({ email: system.people.member.email });
  expect((await fetch(`${system.url}/accounts/password/reset`, { method: 'POST', body: reset })).status).toBe(200);
  await expect.poll(async () => (await waiting()).length).toBe(2);
  const stored = (await waiting()).map((sealed) => sealed + Buffer.from(sealed, 'base64').toString('latin1')).join();
  expect(stored).not.toMatch(/natter\.example|http|password/);
  await killUsers();
  expect([receivedBy(email), (await waiting()).length]).toEqual([0, 2]);
  await hurry();
  rules.refusal = () => undefined;
  await mails.next(email);
  expect((await mails.next(system.people.member.email)).link).toMatch(/\/accounts\/password\/reset\//);
  await expect.poll(waiting).toEqual([]);
  expect(receivedBy(email)).toBe(1);
});

test('two processes send each mail once, even if the mail server is slow', async () => {
  rules.beforeConfirmation = () => new Promise((resolve) => setTimeout(resolve, 300));
  const addresses = Array.from({ length: 40 }, (_, index) => `slow${index}@natter.example`);
  await invite(...addresses.slice(0, 20));
  await invite(...addresses.slice(20));
  await expect.poll(waiting).toEqual([]);
  expect(addresses.map(receivedBy)).toEqual(addresses.map(() => 1));
});

test('a mail whose process is killed while sending is sent by another process', async () => {
  const email = 'hangs@natter.example';
  let isHanging = true;
  rules.beforeConfirmation = () => (isHanging ? new Promise(() => undefined) : Promise.resolve());
  await invite(email);
  await mails.next(email);
  await killUsers();
  isHanging = false;
  // Nobody else takes it before its time is over.
  expect(receivedBy(email)).toBe(1);
  await hurry();
  await mails.next(email);
  await expect.poll(waiting).toEqual([]);
});

test('a mail that the server rejects permanently is not retried and counts as failed', async () => {
  rules.refusal = () => 550;
  const failed = (): Promise<number> => metric(system, 'users', 'natter_mails_total', '"failed"');
  const before = await failed();
  await invite('refused@natter.example');
  await expect.poll(failed).toBe(before + 1);
  await expect.poll(waiting).toEqual([]);
  expect(receivedBy('refused@natter.example')).toBe(0);
});

test('a mail whose link has expired is not sent', async () => {
  rules.refusal = () => 451;
  const email = 'late@natter.example';
  await invite(email);
  // Changed only between two attempts, because a running attempt has read the row already.
  const isPaused = sql.fragment`due_at < now() + interval '1 minute'`;
  await expect
    .poll(() => database.run(sql.unsafe`UPDATE users.mail SET expires_at = now() WHERE attempts > 0 AND ${isPaused}`))
    .toBe(1);
  rules.refusal = () => undefined;
  await expect.poll(waiting).toEqual([]);
  expect(receivedBy(email)).toBe(0);
});

test('an unreadable mail does not delay others, and expires', async () => {
  const seal = createKeySeal(earlierSecret);
  const email = 'beside@natter.example';
  const good = seal.seal(JSON.stringify({ to: email, subject: 'Hello', text: 'Hello' }));
  await database.run(sql.unsafe`
    INSERT INTO users.mail (realm_id, sealed, expires_at)
    SELECT 1, s, now() + interval '1 day' FROM unnest(${sql.array([seal.seal('{}'), good, seal.seal('x')], 'text')}) s`);
  await mails.next(email);
  await expect.poll(waiting).toHaveLength(2);
  await expect
    .poll(async () => {
      await database.run(sql.unsafe`UPDATE users.mail SET expires_at = now(), due_at = now()`);
      return waiting();
    })
    .toEqual([]);
  expect(receivedBy(email)).toBe(1);
});

test('a link request whose process was lost is served once by another process', async () => {
  const { user_id, email } = system.people.moderator;
  const nobody = 'nobody@natter.example';
  await database.run(sql.unsafe`
    INSERT INTO users.password_request (realm_id, email, network)
    SELECT realm_id, unnest(ARRAY[${nobody}, ${email}]), '192.0.2.7' FROM users.account WHERE id = ${user_id}`);
  await mails.next(email);
  const left = () => database.any(sql.unsafe`SELECT FROM users.password_request`);
  await expect.poll(left).toEqual([]);
  expect([receivedBy(email), receivedBy(nobody)]).toEqual([1, 0]);
});

test('a link to set a password is mailed also after the clock of Postgres was set back', async () => {
  const { user_id, email } = system.people.owner;
  // Links of a later time, as many as make further mails rare.
  await database.run(sql.unsafe`
    INSERT INTO users.confirmation (hash, realm_id, user_id, kind, email, expires_at)
    SELECT sha256(n::text::bytea), realm_id, id, 'password', email, now() + interval '2 days'
    FROM users.account, generate_series(1, 8) n WHERE id = ${user_id}`);
  const reset = new URLSearchParams({ email });
  expect((await fetch(`${system.url}/accounts/password/reset`, { method: 'POST', body: reset })).status).toBe(200);
  expect((await mails.next(email)).link).toMatch(/\/accounts\/password\/reset\//);
  await database.run(sql.unsafe`DELETE FROM users.confirmation WHERE user_id = ${user_id}`);
});

test('invitations are deleted some days after they close or expire, and a link after its invitations', async () => {
  const { owner } = system.people;
  const insert = (key: string, is: { age: number; isClosed?: boolean; expiredDays?: number; link?: string }) =>
    database.run(sql.unsafe`
      INSERT INTO users.invitation (realm_id, key, inviter_id, invite_as, channel_ids, group_ids, default_channels, is_closed, created_at, expires_at, link_id)
      SELECT realm_id, ${key}, id, 400, '{}', '{}', false, ${is.isClosed ?? false}, now() - make_interval(days => ${is.age}),
        now() - make_interval(days => ${is.expiredDays ?? null}), (SELECT i.id FROM users.invitation i WHERE i.key = ${is.link ?? ''})
      FROM users.account WHERE id = ${owner.user_id}`);
  await insert('sha256:closed', { age: 8, isClosed: true });
  await insert('sha256:closed lately', { age: 6, isClosed: true });
  await insert('sha256:expired', { age: 9, expiredDays: 8 });
  await insert('sha256:through expired', { age: 9, expiredDays: 8, link: 'sha256:expired' });
  await insert('sha256:expired lately', { age: 9, expiredDays: 6 });
  await insert('sha256:open', { age: 400 });
  const left = () =>
    database.any(sql.type(z.object({ key: z.string() }))`
      SELECT key FROM users.invitation WHERE key = ANY(ARRAY['sha256:closed', 'sha256:closed lately', 'sha256:expired',
        'sha256:through expired', 'sha256:expired lately', 'sha256:open']) ORDER BY id`);
  const kept = ['closed lately', 'expired', 'expired lately', 'open'].map((name) => ({ key: `sha256:${name}` }));
  await removeEndedInvitations(database, () => false);
  expect(await left()).toEqual(kept);
  await removeEndedInvitations(database, () => false);
  expect(await left()).toEqual(kept.filter(({ key }) => key !== 'sha256:expired'));
});
