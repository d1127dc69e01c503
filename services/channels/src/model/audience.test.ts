import { channelPermissions, type GroupSetting } from '@natter/contracts';
import { expect, test } from 'vitest';
import { knowersOf, knows } from './audience.ts';
import { Directory, type Group } from './directory/directory.ts';

const random = (below: number): number => Math.floor(Math.random() * below);
const someOf = (ids: number[]): number[] => ids.filter(() => random(3) === 0);

function anyDirectory(): Directory {
  const directory = new Directory('');
  for (let userId = 1; userId <= 12; userId++)
    directory.setPerson({
      userId,
      email: '',
      role: [100, 200, 300, 400, 600][random(5)] ?? 400,
      isActive: random(4) > 0,
      isBot: false,
      botOwnerId: null,
      notifications: {},
    });
  const people = [...directory.people.keys()];
  for (let id = 1; id <= 6; id++)
    directory.groups.set(id, {
      id,
      name: '',
      isSystem: false,
      isActive: random(5) > 0,
      members: new Set(someOf(people)),
      subgroups: new Set(someOf([1, 2, 3, 4, 5, 6].filter((below) => below < id))),
    });
  return directory;
}

const anyValue = (): GroupSetting =>
  random(2) === 0 ? 1 + random(6) : { direct_members: someOf([1, 5, 9]), direct_subgroups: someOf([1, 2, 3, 4, 5, 6]) };

test('the audience of a channel is exactly the set of users who may see it', () => {
  for (let round = 0; round < 500; round++) {
    const directory = anyDirectory();
    const is_private = random(3) > 0;
    const channel = {
      is_private,
      is_web_public: !is_private && random(3) === 0,
      permissions: Object.fromEntries(Object.keys(channelPermissions).map((name) => [name, anyValue()])) as never,
    };
    const people = [...directory.people.keys()];
    const subscribers = new Set(someOf(people));
    const told = [...knowersOf(channel, directory, subscribers)].sort((a, b) => a - b);
    expect(told).toEqual(people.filter((id) => knows(channel, directory, id, subscribers.has(id))));
  }
});

test('added members are found as if all groups were read again', () => {
  for (let round = 0; round < 500; round++) {
    const directory = anyDirectory();
    for (const id of directory.groups.keys()) directory.membersOf(id);
    const group = directory.groups.get(1 + random(6)) as Group;
    const before = new Map([...directory.groups.keys()].map((id) => [id, new Set(directory.membersOf(id))]));
    const gained = directory.addMembers(group, someOf([...directory.people.keys()]));
    const fresh = new Directory('');
    for (const [id, one] of directory.groups) fresh.groups.set(id, one);
    for (const id of directory.groups.keys()) {
      expect([...directory.membersOf(id)].sort()).toEqual([...fresh.membersOf(id)].sort());
      const now = [...fresh.membersOf(id)].filter((member) => !before.get(id)?.has(member));
      expect([...(gained.get(id) ?? [])].sort()).toEqual(now.sort());
    }
  }
});
