import { expect, test } from 'vitest';
import { Directory } from './directory.ts';
import { plainMember } from './plain-member.ts';

const people = Array.from({ length: 2_000 }, (_, index) => index + 1);
const groupCount = 10_000;

/** Each group contains the one before; the first contains everybody. */
function chain(): Directory {
  const directory = new Directory('');
  for (const userId of people) directory.people.set(userId, plainMember(userId));
  for (let id = 1; id <= groupCount; id++)
    directory.groups.set(id, {
      id,
      name: '',
      isSystem: false,
      isActive: true,
      members: new Set(id === 1 ? people : []),
      subgroups: new Set(id === 1 ? [] : [id - 1]),
    });
  return directory;
}

test('in a long chain of groups that contain each other, all groups have the members of the first', () => {
  const directory = chain();
  expect([...directory.membersOf(groupCount)]).toHaveLength(people.length);
  expect(directory.holder(7)?.groupIds).toHaveLength(groupCount);
  expect(directory.withSupergroups(1)).toHaveLength(groupCount);
});

test('a deactivated group in a chain ends it', () => {
  const directory = chain();
  const middle = directory.groups.get(groupCount / 2);
  if (!middle) throw new Error('no group');
  middle.isActive = false;
  expect([...directory.membersOf(groupCount)]).toHaveLength(0);
  expect(directory.holder(7)?.groupIds).toHaveLength(groupCount / 2 - 1);
});
