import { expect, test } from 'vitest';
import type { Narrow } from './place.ts';
import { marksRead } from './scroll-policy.ts';

const lists: Narrow[] = [
  { kind: 'feed' },
  { kind: 'channel', channelId: 6 },
  { kind: 'topic', channelId: 6, topic: 'lunch' },
  { kind: 'direct', userIds: [9] },
  { kind: 'starred' },
  { kind: 'search', terms: [] },
];

test.for([
  ['always', 1, ['feed', 'channel', 'topic', 'direct']],
  ['in conversations', 2, ['topic', 'direct']],
  ['never', 3, []],
] as const)('messages on screen count as read %s', ([, web_mark_read_on_scroll_policy, kinds]) => {
  const marked = lists.filter((narrow) => marksRead(narrow, { web_mark_read_on_scroll_policy }));
  expect(marked.map(({ kind }) => kind)).toEqual(kinds);
});
