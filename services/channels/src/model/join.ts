import type { BodyOf, ListPart } from '@natter/contracts';
import { inTurns, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { announcePeers } from './announce-peers.ts';
import { knows, sharedKnowers, to } from './audience.ts';
import { formsOf } from './channel-events.ts';
import { contextOf, toChannel } from './channel-object.ts';
import type { ChannelRow } from './channel-row.ts';
import { takeColor } from './colors.ts';
import type { Directory } from './directory/directory.ts';
import { grouped, portions } from './grouped.ts';
import {
  newPersonal,
  type Personal,
  personalColumns,
  personalRow,
  toPersonalFields,
  toSubscription,
  withoutNulls,
} from './personal.ts';

/** Users who join a locked channel; `subscribers` are those before. */
export interface Joining {
  channel: ChannelRow;
  subscribers: ReadonlySet<number>;
  added: readonly number[];
  /** The requested colour; otherwise each user gets their least used one. */
  color?: string | undefined;
  /** Whether the channel was created by this request. Then all joining users already received its announcement. */
  isNew?: boolean;
}

interface JoinNote {
  by: number | null;
  /** Users to notify that another user subscribed them. */
  notify: readonly number[];
}

/** Subscribes users to channels, with a number of statements independent of both, and emits the events. */
export async function join(
  work: Work,
  directory: Directory,
  joinings: readonly Joining[],
  note: JoinNote,
): Promise<void> {
  const real = joinings.filter(({ added }) => added.length > 0);
  if (real.length === 0) return;
  const personal = await choosePersonal(work, real);
  await store(work, directory, real, personal);
  for (const { channel } of real) work.bump(`channel:${channel.id}`);
  announceNewcomers(work, directory, real);
  await announceSubscribers(work, directory, real, { ...note, personal });
  const knowers = sharedKnowers(directory);
  const changes = real.map(({ channel, subscribers, added }) => ({
    channel,
    userIds: added,
    knowers: () => knowers(channel, new Set([...subscribers, ...added])),
  }));
  await announcePeers(work, 'peer_add', changes);
}

type PersonalOf = (channelId: number, userId: number) => Personal;

/** A former subscriber gets their old settings back. */
async function choosePersonal(work: Work, joinings: readonly Joining[]): Promise<PersonalOf> {
  const channelIds = sql.array(
    joinings.map(({ channel }) => channel.id),
    'int4',
  );
  const userIds = sql.array([...new Set(joinings.flatMap(({ added }) => added))], 'int4');
  const former = await work.any(sql.type(personalRow.extend({ channel_id: z.number(), user_id: z.number() }))`
    SELECT s.channel_id, s.user_id, ${personalColumns} FROM channels.subscription s
    WHERE s.channel_id = ANY(${channelIds}) AND s.user_id = ANY(${userIds})`);
  const chosen = new Map(former.map(({ channel_id, user_id, ...personal }) => [`${channel_id} ${user_id}`, personal]));
  const colors = await work.any(sql.type(z.object({ user_id: z.number(), color: z.string(), count: z.number() }))`
    SELECT user_id, color, count(*) FROM channels.subscription
    WHERE realm_id = ${work.realmId} AND user_id = ANY(${userIds}) AND is_active GROUP BY 1, 2`);
  const used = new Map<number, Map<string, number>>();
  for (const { user_id, color, count } of colors) used.set(user_id, (used.get(user_id) ?? new Map()).set(color, count));
  for (const { channel, added, color } of joinings)
    for (const userId of added) {
      const key = `${channel.id} ${userId}`;
      const known = chosen.get(key);
      if (known) {
        if (color) chosen.set(key, { ...known, color });
        continue;
      }
      const own = used.get(userId) ?? new Map<string, number>();
      used.set(userId, own);
      chosen.set(key, newPersonal(color ?? takeColor(own)));
    }
  return (channelId, userId) => chosen.get(`${channelId} ${userId}`) ?? newPersonal('#c2c2c2');
}

async function store(
  work: Work,
  directory: Directory,
  joinings: readonly Joining[],
  personal: PersonalOf,
): Promise<void> {
  const rows = joinings.flatMap(({ channel, added }) =>
    added.map((userId) => [channel.id, userId, personal(channel.id, userId).color]),
  );
  await work.run(sql.unsafe`
    INSERT INTO channels.subscription (realm_id, channel_id, user_id, color)
    SELECT ${work.realmId}, channel, "user", color FROM ${sql.unnest(rows, ['int4', 'int4', 'text'])} AS r (channel, "user", color)
    ON CONFLICT (channel_id, user_id) DO UPDATE SET is_active = true, color = excluded.color`);
  await addToCounts(
    work,
    joinings.map(({ channel, added }) => ({ channel, by: added.filter((id) => isCounted(directory, id)).length })),
  );
}

/** A user who is not replicated yet counts as active, because they have just made a request. */
export const isCounted = (directory: Directory, userId: number): boolean =>
  directory.people.get(userId)?.isActive ?? true;

/** Updates the number of active subscribers, in the tables and in the given rows. */
export async function addToCounts(work: Work, changes: readonly { channel: ChannelRow; by: number }[]): Promise<void> {
  const real = changes.filter(({ by }) => by !== 0);
  if (real.length === 0) return;
  await work.run(sql.unsafe`
    UPDATE channels.channel c SET subscriber_count = subscriber_count + r.by
    FROM ${sql.unnest(
      real.map(({ channel, by }) => [channel.id, by]),
      ['int4', 'int4'],
    )} AS r (id, by)
    WHERE c.id = r.id`);
  for (const { channel, by } of real) channel.subscriber_count += by;
}

/** A channel appears to users who could not see it before. */
function announceNewcomers(work: Work, directory: Directory, joinings: readonly Joining[]): void {
  const appearing = joinings
    .filter(({ isNew }) => !isNew)
    .map(({ channel, added }) => ({
      channel,
      newcomers: added.filter((id) => !knows(channel, directory, id, false)),
      before: channel.subscriber_count - added.filter((id) => isCounted(directory, id)).length,
    }));
  const context = contextOf(directory);
  const real = appearing.filter(({ newcomers }) => newcomers.length > 0);
  for (const group of grouped(real, ({ channel, newcomers }) => `${channel.is_archived} ${newcomers.join()}`))
    work.emit({
      type: 'stream',
      op: 'create',
      body: { streams: group.map(({ channel, before }) => toChannel(channel, context, before)) },
      audience: to(group[0]?.newcomers ?? []),
      isForClientsOnly: true,
      ...formsOf(group[0]?.channel ?? { is_archived: false }),
    });
}

/** The subscribers that one event lists for a newcomer, and as how many of them its channel counts. */
const idsOfEvent = 100_000;
const idsOfChannel = 200;

async function announceSubscribers(
  work: Work,
  directory: Directory,
  joinings: readonly Joining[],
  { by, notify, personal }: JoinNote & { personal: PersonalOf },
): Promise<void> {
  const context = contextOf(directory);
  const takeTurns = inTurns();
  const groups = grouped(joinings, ({ channel, added }) => `${channel.is_archived} ${added.join()}`).flatMap((group) =>
    // A request is refused if an event is too large.
    work.isConsumer ? portions(group, idsOfEvent, ({ subscribers }) => idsOfChannel + subscribers.size) : [group],
  );
  for (const [index, group] of groups.entries()) {
    const [first] = group;
    if (!first) continue;
    const subscriptions: BodyOf<'subscription/add'>['subscriptions'][number][] = [];
    for (const { channel, subscribers, added } of group) {
      await takeTurns();
      const all = [...subscribers, ...added].filter((id) => isCounted(directory, id)).sort((a, b) => a - b);
      subscriptions.push(toSubscription(channel, context, newPersonal(''), { subscribers: all }));
    }
    work.emit({
      type: 'subscription',
      op: 'add',
      body: { subscriptions },
      audience: to(first.added),
      parts: personalParts(
        directory,
        group.map(({ channel }) => channel.id),
        first.added,
        personal,
      ),
      note: {
        by,
        told: index === 0 ? notifiedOf(joinings, notify) : [],
        channel_ids: group.map(({ channel }) => channel.id),
        user_ids: first.added,
      },
      ...formsOf(first.channel),
    });
  }
}

/**
 * The users to notify, each with the sorted names of all channels to which they were added. A new channel has its own
 * first message.
 */
function notifiedOf(
  joinings: readonly Joining[],
  notify: readonly number[],
): { user_ids: number[]; names: string[] }[] {
  const namesOf = (userId: number): string[] =>
    joinings
      .filter(({ added, isNew }) => !isNew && added.includes(userId))
      .map(({ channel }) => channel.name)
      .sort();
  const people = notify.map((userId) => ({ userId, names: namesOf(userId) })).filter(({ names }) => names.length > 0);
  return grouped(people, ({ names }) => JSON.stringify(names)).map((group) => ({
    user_ids: group.map(({ userId }) => userId),
    names: group[0]?.names ?? [],
  }));
}

/** The personal fields of each receiver; receivers with equal fields are grouped. */
export function personalParts(
  directory: Directory,
  channelIds: readonly number[],
  userIds: readonly number[],
  personal: PersonalOf,
): ListPart[] {
  const list = 'subscriptions';
  const own = userIds.map((userId) => ({
    userId,
    items: channelIds.map((id) => toPersonalFields(personal(id, userId))),
    nullless: channelIds.map((id) => withoutNulls(personal(id, userId), directory.people.get(userId))),
  }));
  const audience = (group: typeof own) => to(group.map(({ userId }) => userId));
  return [
    ...grouped(own, ({ items }) => JSON.stringify(items)).map(
      (group): ListPart => ({ audience: audience(group), list, items: group[0]?.items ?? [] }),
    ),
    ...grouped(own, ({ nullless }) => JSON.stringify(nullless)).map(
      (group): ListPart => ({
        audience: audience(group),
        list,
        items: group[0]?.nullless ?? [],
        capability: 'notification_settings_null',
        is: false,
      }),
    ),
  ];
}
