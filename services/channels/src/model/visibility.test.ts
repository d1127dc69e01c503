import { channelPermissions, idsOf, type LogEvent } from '@natter/contracts';
import type { Query, Work } from '@natter/database';
import { describe, expect, test } from 'vitest';
import { Directory } from './directory/directory.ts';
import { plainMember } from './directory/plain-member.ts';
import type { GroupChange } from './group-events.ts';
import { announceChangeOfGroups } from './visibility.ts';

const groupId = 1;
/** Their ids are sparse, as in a realm of a server with many realms. */
const people = Array.from({ length: 2_000 }, (_, index) => (index + 1) * 1_000);

function directoryOf(members: readonly number[]): Directory {
  const directory = new Directory('');
  for (const userId of people) directory.setPerson(plainMember(userId));
  const group = { id: groupId, name: '', isSystem: false, isActive: true, subgroups: new Set<number>() };
  directory.groups.set(groupId, { ...group, members: new Set(members) });
  return directory;
}

/** A private channel that the group and one other user see. */
const channelOf = (id: number) => ({
  id,
  created_at: new Date(),
  is_private: true,
  is_archived: false,
  subscriber_count: 1,
  permissions: {
    ...Object.fromEntries(Object.keys(channelPermissions).map((name) => [name, 0])),
    can_subscribe_group: { direct_members: [watcherOf(id)], direct_subgroups: [groupId] },
  },
});
const watcherOf = (channelId: number): number => people[channelId % people.length] ?? 0;
const subscriberOf = (channelId: number): number => people[(channelId + 1) % people.length] ?? 0;

/** A unit of a consumer in a realm with this number of private channels, each with one subscriber. */
function unitIn(channelCount: number) {
  const events: LogEvent[] = [];
  const ids = Array.from({ length: channelCount }, (_, index) => index + 1);
  /** The number of channels that each query read, by what it read. */
  const read = { rows: [] as number[], subscribers: [] as number[] };
  const any = async ({ sql, values }: Query): Promise<unknown[]> => {
    if (sql.includes('SELECT c.id FROM')) return ids.map((id) => ({ id }));
    const asked = values.find((value) => Array.isArray(value)) as unknown as number[];
    if (sql.includes('FROM channels.channel c')) {
      read.rows.push(asked.length);
      return asked.map(channelOf);
    }
    read.subscribers.push(asked.length);
    return asked.map((id) => ({ channel_id: id, users: [subscriberOf(id)] }));
  };
  const work: Partial<Work> = {
    realmId: 1,
    isConsumer: true,
    emitted: () => events.length,
    emit: (event) => events.push(event) - 1,
    any: any as Work['any'],
  };
  return { work: work as Work, events, read };
}

const nobody = { prompt: new Set<number>(), late: new Set<number>() };
const receivers = ({ audience }: LogEvent): number[] => (audience === 'realm' ? [] : idsOf(audience.users));
/** The ids of the channels that an event names. */
const channelsIn = (event: LogEvent): readonly number[] => {
  if (event.type === 'stream' && event.op === 'create') return event.body.streams.map(({ stream_id }) => stream_id);
  if (event.type === 'stream' && event.op === 'delete') return event.body.stream_ids;
  return event.type === 'subscription' && event.op === 'peer_add' ? event.body.stream_ids : [];
};
const expectRightReceivers = (events: readonly LogEvent[]): void => {
  for (const event of events) {
    const [id = 0, ...others] = channelsIn(event);
    expect(others).toEqual([]);
    expect(receivers(event)).toEqual(people.filter((user) => user !== watcherOf(id) && user !== subscriberOf(id)));
  }
};

describe('all users join a group that sees private channels, of which each is seen by another set of users', () => {
  const gain = async (channelCount: number, added = nobody) => {
    const directory = directoryOf(people);
    const change: GroupChange = new Map([[groupId, { gained: directory.usersOf(people), lost: directory.usersOf() }]]);
    const unit = unitIn(channelCount);
    await announceChangeOfGroups(unit.work, directory, change, added);
    return unit;
  };

  test('the channels and their subscribers are announced', async () => {
    const { events, read } = await gain(600);
    expectRightReceivers(events);
    expect(events.map(({ type, op }) => `${type}/${op}`)).toEqual([
      ...Array.from({ length: 600 }, () => 'stream/create'),
      ...Array.from({ length: 600 }, () => 'subscription/peer_add'),
    ]);
    expect(Math.max(...read.subscribers.slice(0, 6))).toBe(100);
  });

  test('with many channels, those of the first are announced, and the others are not read', async () => {
    const { events, read } = await gain(6_000);
    expectRightReceivers(events);
    const listed = events.reduce((sum, event) => sum + receivers(event).length, 0);
    expect(listed * 8).toBeLessThan(33 * 1024 * 1024);
    expect(events.filter(({ op }) => op === 'create').length).toBeGreaterThan(1_000);
    expect(events.at(-1)?.op).toBe('peer_add');
    expect(read.rows.length).toBeLessThan(6);
  });

  test('users whose additions are applied late are told of channels, but not of subscribers', async () => {
    const { events } = await gain(10, { ...nobody, late: new Set(people) });
    expect(events.map(({ op }) => op)).toEqual(Array.from({ length: 10 }, () => 'create'));
    expect((await gain(10, { ...nobody, prompt: new Set(people) })).events).toEqual([]);
  });
});

test('all users leave a group that sees private channels, of which each is seen by another set of users', async () => {
  const directory = directoryOf([]);
  const change: GroupChange = new Map([[groupId, { gained: directory.usersOf(), lost: directory.usersOf(people) }]]);
  const { work, events, read } = unitIn(6_000);
  await announceChangeOfGroups(work, directory, change, nobody);
  expectRightReceivers(events);
  expect(events.every(({ op }) => op === 'delete')).toBe(true);
  expect(events.length).toBeGreaterThan(1_500);
  expect(events.length * people.length * 8).toBeLessThan(33 * 1024 * 1024);
  expect(read.rows.length).toBeLessThan(8);
});
