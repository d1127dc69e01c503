import { channelPermissions, maxUsersOfPermission, realmPermissions } from '@natter/contracts';
import { describe, expect, test } from 'vitest';
import { isIn, isPermitted, normalized, problemOf, shownSetting, updatedSetting } from './group-setting.ts';

const member = { userId: 7, role: 400, groupIds: [3, 9] };
const guest = { userId: 8, role: 600, groupIds: [3] };

describe('a group-setting value', () => {
  test('contains the members of its group', () => {
    expect([isIn(9, member), isIn(9, guest)]).toEqual([true, false]);
  });
  test('contains its direct members and the members of its subgroups', () => {
    expect(isIn({ direct_members: [8], direct_subgroups: [9] }, guest)).toBe(true);
    expect(isIn({ direct_members: [8], direct_subgroups: [9] }, member)).toBe(true);
    expect(isIn({ direct_members: [], direct_subgroups: [4] }, member)).toBe(false);
  });
  test('never contains guests if its setting excludes them', () => {
    expect(isPermitted(realmPermissions.can_create_groups, 3, guest)).toBe(false);
    expect(isPermitted(channelPermissions.can_send_message_group, 3, guest)).toBe(true);
  });
  test('with a single group equals that group', () => {
    expect(normalized({ direct_members: [], direct_subgroups: [5, 5] })).toBe(5);
    expect(normalized({ direct_members: [2, 1, 2], direct_subgroups: [] })).toEqual({
      direct_members: [1, 2],
      direct_subgroups: [],
    });
  });
});

const set = (...direct_members: number[]) => ({ direct_members, direct_subgroups: [] });

describe('a value that names deactivated users', () => {
  const inactive = new Set([1, 2]);
  test('is shown without them', () => {
    expect(shownSetting(set(1, 3), inactive)).toEqual(set(3));
    expect(shownSetting({ direct_members: [1], direct_subgroups: [5] }, inactive)).toBe(5);
    expect(shownSetting(7, inactive)).toBe(7);
  });
  test('is changed by a request that knows the shown or the stored value', () => {
    for (const old of [set(3), set(1, 3), undefined])
      expect(updatedSetting(set(1, 3), { new: set(4), old }, inactive)).toEqual(set(1, 4));
    expect(() => updatedSetting(set(1, 3), { new: set(4), old: set(1) }, inactive)).toThrow("'old' value");
  });
  test('is unchanged by the shown and by the stored value', () => {
    for (const value of [set(3), set(1, 3)])
      expect(updatedSetting(set(1, 3), { new: value }, inactive)).toBeUndefined();
  });
  test('names no more users with them than a request may name', () => {
    const most = Array.from({ length: maxUsersOfPermission - 1 }, (_, index) => index + 10);
    expect(updatedSetting(set(1), { new: set(...most) }, inactive)).toEqual(set(1, ...most));
    expect(() => updatedSetting(set(1), { new: set(9, ...most) }, inactive)).toThrow('at most 20000 users');
  });
  test('is replaced by a single group', () => {
    expect(updatedSetting(set(1, 3), { new: 5 }, inactive)).toBe(5);
  });
});

describe('the validation of', () => {
  const groups = [
    { id: 1, name: 'role:nobody', isSystem: true, isDeactivated: false },
    { id: 2, name: 'role:everyone', isSystem: true, isDeactivated: false },
    { id: 3, name: 'friends', isSystem: false, isDeactivated: false },
    { id: 4, name: 'old', isSystem: false, isDeactivated: true },
  ];
  const known = {
    group: (id: number) => groups.find((group) => group.id === id),
    isActiveUser: (id: number) => id < 10,
  };
  test.each([
    ['can_create_groups', 2, "'can_create_groups' setting cannot be set to 'role:everyone' group."],
    ['can_create_groups', 4, 'User group is deactivated.'],
    ['can_create_groups', 99, 'Invalid user group'],
    ['can_create_groups', 3, undefined],
    ['can_access_all_users_group', 3, "'can_access_all_users_group' must be a system user group."],
    ['can_access_all_users_group', 1, "'can_access_all_users_group' setting cannot be set to 'role:nobody' group."],
    ['can_create_groups', { direct_members: [50], direct_subgroups: [] }, 'Invalid user ID'],
  ] as const)('%s %j: %s', (name, value, problem) => {
    const given = typeof value === 'number' ? value : set(50);
    expect(problemOf(name, realmPermissions[name], given, known)).toBe(problem);
  });
});
