import {
  type ChannelChange,
  type ChannelPermissions,
  type ChannelValue,
  channelChange,
  type PlainChannelProperty,
} from '@natter/contracts';
import { inTurns, sql, type Work } from '@natter/database';
import { sharedKnowers, type ToUsers, to } from './audience.ts';
import { formsOf, subscribersOf } from './channel-events.ts';
import { type SystemGroups, shownPermissions, streamPostPolicy } from './channel-object.ts';
import { channelPermissionNames } from './channel-permissions.ts';
import { listedChannelsAtOnce } from './channel-portions.ts';
import { channelColumns, channelRow } from './channel-row.ts';
import { type Directory, systemGroupsOf } from './directory/directory.ts';
import { announce, hasEventRoom } from './event-room.ts';
import { portions } from './grouped.ts';

/** A change for an event, and the former value. Most properties have the same name and value in the table. */
export interface AnnouncedChange {
  body: ChannelChange;
  before: unknown;
}

/** The channel, under the name by which clients know it. */
type Named = Parameters<typeof channelChange>[0];

export const changesIf = <P extends PlainChannelProperty>(
  named: Named,
  property: P,
  before: ChannelValue<P>,
  value: ChannelValue<P>,
): AnnouncedChange[] =>
  JSON.stringify(before) === JSON.stringify(value) ? [] : [{ body: channelChange(named, property, value), before }];

/** Changes of the shown permissions, and of the deprecated fields that depend on them. */
export function permissionChanges(
  named: Named,
  before: ChannelPermissions,
  after: ChannelPermissions,
  systemGroups: SystemGroups,
): AnnouncedChange[] {
  const was = streamPostPolicy({ permissions: before }, systemGroups);
  const is = streamPostPolicy({ permissions: after }, systemGroups);
  return [
    ...channelPermissionNames.flatMap((name) => changesIf(named, name, before[name], after[name])),
    ...changesIf(named, 'stream_post_policy', was, is),
    ...changesIf(named, 'is_announcement_only', was === 2, is === 2),
  ];
}

/** Maximum number of announced changes, those of the newest channels. A register contains all. */
const maxChanges = 5_000;

/**
 * Emits the permissions that name users who were deactivated or reactivated: they are shown without deactivated users.
 * `wasInactive` has the former state of these users.
 */
export async function announcePermissionsNaming(
  work: Work,
  directory: Directory,
  wasInactive: ReadonlyMap<number, boolean>,
): Promise<void> {
  const userIds = sql.array([...wasInactive.keys()], 'int4');
  const channels = await work.any(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c
    WHERE c.realm_id = ${work.realmId} AND EXISTS (
      SELECT FROM jsonb_path_query(c.permissions, '$.*.direct_members[*]') named WHERE named::int = ANY(${userIds}))
    ORDER BY c.id DESC LIMIT ${maxChanges}`);
  const former = { has: (id: number): boolean => wasInactive.get(id) ?? directory.inactive.has(id) };
  const systemGroups = systemGroupsOf(directory);
  const knowers = sharedKnowers(directory);
  const audienceOf = sharedAudiences();
  const takeTurns = inTurns();
  let left = maxChanges;
  for (const some of portions(channels, listedChannelsAtOnce, () => 1)) {
    const subscribers = await subscribersOf(
      work,
      some.map(({ id }) => id),
    );
    for (const channel of some) {
      await takeTurns();
      const named = { stream_id: channel.id, name: channel.name };
      const before = shownPermissions(channel, former);
      const after = shownPermissions(channel, directory.inactive);
      const changes = permissionChanges(named, before, after, systemGroups);
      if (changes.length === 0) continue;
      left -= changes.length;
      if (left < 0) return;
      const audience = audienceOf(knowers(channel, subscribers.get(channel.id) ?? new Set()));
      for (const { body } of changes) {
        if (!hasEventRoom(work)) return;
        announce(work, { type: 'stream', op: 'update', body, audience, ...formsOf(channel) });
      }
    }
  }
}

/** Returns `to`, which makes the audience of equal sets once. */
function sharedAudiences(): (knowers: ReadonlySet<number>) => ToUsers {
  const known = new WeakMap<ReadonlySet<number>, ToUsers>();
  return (knowers) => {
    const audience = known.get(knowers) ?? to(knowers);
    known.set(knowers, audience);
    return audience;
  };
}
