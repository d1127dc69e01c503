import { type Client, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

let realm: Realm;
let message: number;
beforeAll(async () => {
  realm = await openRealm();
  const { member, member2 } = realm;
  message = (
    await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'buy ```my``` things' })
  ).id;
});

const report = (who: Client, form: Json) => who.post(`/messages/${message}/report`, form);

test('a report requires a moderation channel, a valid type, and for other reasons a description', async () => {
  const without = await report(realm.member, { report_type: 'spam' });
  expect([without.status, without.body.code]).toEqual([400, 'BAD_REQUEST']);
  const { id } = await realm.owner.ok('POST', '/channels/create', {
    name: 'moderation',
    subscribers: [realm.moderator.user_id],
    invite_only: true,
  });
  await realm.owner.ok('PATCH', '/realm', { moderation_request_channel_id: id });
  for (const form of [
    {},
    { report_type: 'boring' },
    { report_type: 'other' },
    { report_type: 'other', description: ' ' },
    { report_type: 'spam', description: 'x'.repeat(1_001) },
  ])
    expect((await report(realm.member, form)).status, JSON.stringify(form)).toBe(400);
  const queue = await realm.moderator.queue({ event_types: ['message'], apply_markdown: false });
  expect((await report(realm.member, { report_type: 'other', description: 'adverts' })).status).toBe(200);
  const found = await queue.next((event) => event.message.subject.endsWith('moderation requests'));
  expect(found.message).toMatchObject({
    display_recipient: 'moderation',
    subject: `${realm.member2.full_name}'s moderation requests`,
  });
  const { member, member2 } = realm;
  for (const part of [
    `@_**${member.full_name}|${member.user_id}** reported a message of @_**${member2.full_name}|${member2.user_id}** in a direct message.`,
    'Other reason',
    '```quote\nadverts\n```',
    '````quote\nbuy ```my``` things\n````',
  ])
    expect(found.message.content).toContain(part);
});

test('a user cannot report a message that they may not read', async () => {
  const [hidden, none] = [
    await report(realm.owner, { report_type: 'spam' }),
    await realm.owner.post('/messages/99999999/report', { report_type: 'spam' }),
  ];
  expect(hidden.status).toBe(400);
  expect(hidden.body).toEqual(none.body);
});

test('a user can report ten messages in an hour, without an effect on other users', async () => {
  const { owner, member, member2 } = await openRealm();
  const { id } = await owner.ok('POST', '/channels/create', {
    name: 'moderation',
    subscribers: [owner.user_id],
    invite_only: true,
  });
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: id });
  await owner.ok('POST', '/users/me/subscriptions', { subscriptions: [{ name: 'open' }] });
  const sent = await owner.ok('POST', '/messages', { type: 'channel', to: 'open', topic: 'a', content: 'hello' });
  const reported = (who: Client) => who.post(`/messages/${sent.id}/report`, { report_type: 'spam' });
  for (let n = 0; n < 10; n++) expect((await reported(member)).status).toBe(200);
  const { status, body, headers } = await reported(member);
  expect([status, body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
  const wait = Number(headers['retry-after']);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(360);
  expect((await reported(member2)).status).toBe(200);
});

test('a report is refused if the channel for reports is archived', async () => {
  const { owner, member, member2 } = await openRealm();
  const form = { name: 'moderation', subscribers: [owner.user_id], invite_only: true };
  const { id } = await owner.ok('POST', '/channels/create', form);
  const sent = await member2.ok('POST', '/messages', { type: 'direct', to: [member.user_id], content: 'hello' });
  const reported = () => member.post(`/messages/${sent.id}/report`, { report_type: 'spam' });
  const without = await reported();
  await owner.ok('PATCH', '/realm', { moderation_request_channel_id: id });
  expect((await reported()).status).toBe(200);
  await owner.ok('DELETE', `/streams/${id}`);
  const { status, body } = await reported();
  expect([status, body]).toEqual([400, without.body]);
});
