import { expect, test } from 'vitest';
import { targetOfFragment } from './link-terms.ts';
import { directPlace, type Narrow, type Term, topicPlace } from './place.ts';

const lunch = topicPlace(6, 'team lunch');
const channel: Narrow = { kind: 'channel', channelId: 6 };

const lists: [string, Narrow, near?: number | undefined, of?: number][] = [
  ['channel/6-general', channel],
  ['stream/6-general/subject/team.20lunch', lunch],
  ['channel/6-general/topic/team.20lunch/near/42', lunch, 42],
  ['channel/6-general/topic/team.20lunch/id/42', lunch, 42],
  ['channel/6-general/topic/team.20lunch/with/42', lunch, undefined, 42],
  ['channel/6-general/topic/', topicPlace(6, '')],
  ['channel/6/topic/12', topicPlace(6, '12')],
  ['channel/6-general/near/x', channel],
  ['dm/9-Mia/near/42', directPlace([9], 3), 42],
  ['pm-with/12,9-group', directPlace([9, 12], 3)],
  ['is/starred', { kind: 'starred' }],
  ['is/mentioned/', { kind: 'mentions' }],
];
test.for(lists)('the link %s leads to a list', ([fragment, narrow, near, of]) => {
  expect(targetOfFragment(fragment)).toEqual({ narrow, near, of });
});

const general = { operator: 'channel', operand: 6 };
const searches: [string, Term[]][] = [
  ['search/free.20pizza', [{ operator: 'search', operand: 'free pizza' }]],
  ['channel/6-general/search/pizza', [general, { operator: 'search', operand: 'pizza' }]],
  [
    '-channel/6-general/search/pizza',
    [
      { ...general, negated: true },
      { operator: 'search', operand: 'pizza' },
    ],
  ],
  ['channel/6-general/sender/9-Mia', [general, { operator: 'sender', operand: 9 }]],
  [
    'is/starred/from/9',
    [
      { operator: 'is', operand: 'starred' },
      { operator: 'sender', operand: 9 },
    ],
  ],
  ['is/unread', [{ operator: 'is', operand: 'unread' }]],
  ['id/42', [{ operator: 'id', operand: 42 }]],
  ['dm-including/9-Mia', [{ operator: 'dm-including', operand: [9] }]],
];
test.for(searches)('the link %s leads to a search with all its conditions', ([fragment, terms]) => {
  const target = { narrow: { kind: 'search', terms }, near: undefined, of: undefined };
  expect(targetOfFragment(fragment)).toEqual(target);
});

test.each(['', 'near/42', 'nonsense/6', '-search/pizza'])('the link "%s" leads nowhere', (fragment) => {
  expect(targetOfFragment(fragment)).toBeUndefined();
});
