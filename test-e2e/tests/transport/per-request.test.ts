import { openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';

/** A request that exceeds a limit as a whole changes nothing. */
let realm: Realm;

beforeAll(async () => {
  realm = await openRealm();
});

test('a request that would exceed the limit of drafts does not store any', async () => {
  const drafts = Array.from({ length: 1_000 }, () => ({ type: '', to: [], topic: '', content: 'x' }));
  for (let count = 0; count < 5; count++) await realm.member.ok('POST', '/drafts', { drafts });
  const { status, body } = await realm.member.post('/drafts', { drafts: drafts.slice(0, 2) });
  expect([status, body.msg]).toEqual([400, expect.stringMatching(/Too many drafts/)]);
  expect((await realm.member.ok('GET', '/drafts')).count).toBe(5_000);
});

test('one request can create at most 200 channels', async () => {
  const channels = Array.from({ length: 201 }, (_, index) => ({ name: `many ${index}` }));
  const { status, body } = await realm.owner.post('/users/me/subscriptions', { subscriptions: channels });
  expect([status, body.msg]).toEqual([400, expect.stringMatching(/at most 200 channels at once/)]);
});
