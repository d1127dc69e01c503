import { openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';

test('a completed step is removed from the list, and an unknown step is rejected', async () => {
  const realm = await openRealm();
  const state = await realm.member.ok('POST', '/register', { fetch_event_types: ['onboarding_steps'] });
  expect(state.onboarding_steps).toContainEqual({ type: 'one_time_notice', name: 'intro_inbox_view_modal' });
  const queue = await realm.member.queue({ event_types: ['onboarding_steps'] });
  await realm.member.ok('POST', '/users/me/onboarding_steps', { onboarding_step: 'intro_inbox_view_modal' });
  const left = state.onboarding_steps.filter((step: { name: string }) => step.name !== 'intro_inbox_view_modal');
  expect((await queue.next(() => true)).onboarding_steps).toEqual(left);
  const { status, body } = await realm.member.post('/users/me/onboarding_steps', { onboarding_step: 'nothing' });
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
});

test('the tutorial status of old clients is accepted and has no effect', async () => {
  const realm = await openRealm();
  await realm.member.ok('POST', '/users/me/tutorial_status', { status: 'finished' });
  const { status, body } = await realm.member.post('/users/me/tutorial_status', { status: 'lost' });
  expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
});
