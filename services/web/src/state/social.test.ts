import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { applyToSocial, availabilityOf, laterPresence, socialOf, withPresences } from './social.ts';

const now = 1_000_000;
const answer = {
  user_status: { '7': { status_text: 'Away', emoji_name: 'bus', emoji_code: '1f68c', reaction_type: 'unicode_emoji' } },
  muted_users: [{ id: 9, timestamp: 1 }],
  alert_words: ['outage'],
  presences: { '7': { active_timestamp: now - 10, idle_timestamp: now - 10 } },
  presence_last_update_id: 5,
  server_presence_ping_interval_seconds: 60,
  server_presence_offline_threshold_seconds: 200,
};

test('a change of a status keeps the fields that it omits, and an empty status is removed', () => {
  const changed = (change: object) =>
    applyToSocial(socialOf(answer), { type: 'user_status', id: 1, user_id: 7, ...change } as ChatEvent).statuses.get(7);
  const bus = { emoji_name: 'bus', emoji_code: '1f68c', reaction_type: 'unicode_emoji' };
  expect(changed({ status_text: 'On the bus' })).toEqual({ text: 'On the bus', emoji: bus });
  expect(changed({ emoji_name: '', emoji_code: '', reaction_type: '' })).toEqual({ text: 'Away', emoji: undefined });
  expect(changed({ status_text: '', emoji_name: '', emoji_code: '', reaction_type: '' })).toBeUndefined();
});

test('the alert words are those of the latest event', () => {
  const event: ChatEvent = { type: 'alert_words', id: 1, alert_words: ['outage', 'deploy'] };
  const before = socialOf(answer);
  expect([before.alertWords, applyToSocial(before, event).alertWords]).toEqual([['outage'], ['outage', 'deploy']]);
});

test.each<[what: string, activeAgo: number, connectedAgo: number, expected: string]>([
  ['active', 10, 10, 'active'],
  ['connected without input', 300, 10, 'idle'],
  ['gone', 300, 200, 'offline'],
])('a user who is %s is shown with that presence', (_, activeAgo, connectedAgo, expected) => {
  const { presence } = socialOf({
    ...answer,
    presences: { '7': { active_timestamp: now - activeAgo, idle_timestamp: now - connectedAgo } },
  });
  expect(availabilityOf(presence, 7, now)).toBe(expected);
  expect(availabilityOf(presence, 8, now)).toBe('offline');
});

test('a response that an event has overtaken does not change a user to absent', () => {
  const { presence } = socialOf(answer);
  const late = withPresences(presence, {
    updateId: 4,
    presences: { '7': { active_timestamp: now - 900, idle_timestamp: now - 900 } },
  });
  expect([availabilityOf(late, 7, now), late.updateId]).toEqual(['active', 5]);
});

test('a state that replaces a later one does not change users to absent, and adds new users', () => {
  const { presence } = socialOf(answer);
  const old = now - 900;
  const next = socialOf({
    ...answer,
    presences: {
      '7': { active_timestamp: old, idle_timestamp: old },
      '8': { active_timestamp: now, idle_timestamp: now },
    },
    presence_last_update_id: 4,
  }).presence;
  const merged = laterPresence(presence, next);
  expect([availabilityOf(merged, 7, now), availabilityOf(merged, 8, now), merged.updateId]).toEqual([
    'active',
    'active',
    5,
  ]);
});
