import { type Actor, ChatError } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createAuthenticator } from './authenticator.ts';

const right = 'R'.repeat(32);
const meta = { requestId: '', realmId: 1, client: '' };
const header = (email: string, key: string) => `Basic ${Buffer.from(`${email}:${key}`).toString('base64')}`;

/** An authenticator whose service knows one key for any address, and the number of its calls. */
function create() {
  const asked: string[] = [];
  const bus = {
    call: async (_: unknown, { email, api_key }: { email: string; api_key: string }) => {
      asked.push(email);
      if (api_key !== right) throw new ChatError('INVALID_API_KEY', 'Invalid API key');
      return { realmId: 1, userId: Number(email.slice(1)) || 0, email } as Actor;
    },
  } as unknown as Bus;
  const authenticator = createAuthenticator(bus, () => true);
  const show = (email: string, key = right) => authenticator.authenticate({ header: header(email, key) }, meta, false);
  return { asked, authenticator, show };
}

test('wrong keys evict no right ones, and a key in use outlives more others than there is room for', async () => {
  const { asked, show } = create();
  await show('ann');
  for (let count = 0; count < 60_000; count++) {
    if (count % 2 === 0) await show(`u${count}`);
    else await show('ann', String(count).padStart(32, 'w')).catch(() => undefined);
    if (count % 10_000 === 0) await show('ann');
  }
  for (let count = 60_000; count < 110_000; count++) {
    await show(`u${count}`);
    if (count % 10_000 === 0) await show('ann');
  }
  asked.length = 0;
  await show('ann');
  await show('u109000');
  expect(asked).toEqual([]);
  await show('u0');
  expect(asked).toEqual(['u0']);
});

test('an actor is asked for anew after an end of credentials, and after a gap in the log', async () => {
  const { asked, authenticator, show } = create();
  await show('u7');
  await show('u8');
  authenticator.follow(1, { type: 'credentials_changed', body: { user_id: 7 }, audience: { users: { ids: [] } } });
  asked.length = 0;
  await show('u7');
  await show('u8');
  expect(asked).toEqual(['u7']);
  authenticator.lost(2);
  await show('u7');
  expect(asked).toEqual(['u7']);
  authenticator.lost(1);
  await show('u7');
  await show('u8');
  expect(asked).toEqual(['u7', 'u7', 'u8']);
});
