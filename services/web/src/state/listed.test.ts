import type { ChatEvent } from '@natter/client';
import { expect, test } from 'vitest';
import { applyToListed, type Listed, listedOf } from './listed.ts';

const raw = (stream_id: number, name: string, invite_only = false, description = '') => ({
  stream_id,
  name,
  description,
  invite_only,
});
const of = (op: string, more: object): ChatEvent => ({ type: 'stream', op, ...more }) as unknown as ChatEvent;

test('the known channels follow the events', () => {
  const before = listedOf([raw(1, 'general'), raw(2, 'lunch'), raw(4, 'old')]);
  const after = [
    of('create', { streams: [raw(3, 'secret', true)] }),
    of('update', { stream_id: 1, property: 'name', value: 'hall' }),
    of('update', { stream_id: 1, property: 'description', value: 'Of all' }),
    of('update', { stream_id: 3, property: 'invite_only', value: false }),
    of('update', { stream_id: 9, property: 'name', value: 'unknown' }),
    of('delete', { stream_ids: [2] }),
    of('update', { stream_id: 4, property: 'is_archived', value: true }),
  ].reduce(applyToListed, before as Listed);
  expect(after).toEqual(listedOf([raw(1, 'hall', false, 'Of all'), raw(3, 'secret')]));
});

test('channels that are not loaded do not follow events, and an empty list does', () => {
  const event = of('create', { streams: [raw(3, 'new')] });
  expect([applyToListed(undefined, event), applyToListed(listedOf([]), event)]).toEqual([
    undefined,
    listedOf([raw(3, 'new')]),
  ]);
});
