import type { Bus, Owner } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { limitTrials } from './limit-guests.ts';

test('simultaneous trials of a limit are shared, one for each realm', async () => {
  const begun: number[] = [];
  const background = (async (realmId: number) => void begun.push(realmId)) as Owner['background'];
  const call = (async () => ({ number: 0, channels: [], conversations: [] })) as unknown as Bus['call'];
  const tryLimit = limitTrials({ background } as Owner, { call } as Bus);
  const inRealm = (realmId: number) => tryLimit({ requestId: '1', realmId, client: 'test' });
  await Promise.all([inRealm(1), inRealm(1), inRealm(2)]);
  expect(begun).toEqual([1, 2]);
  await inRealm(1);
  expect(begun).toEqual([1, 2, 1]);
});
