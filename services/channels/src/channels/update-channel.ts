import {
  badRequest,
  type ChannelChange,
  type ChannelValue,
  channelOperations,
  checkedChannelName,
  isAdministrator,
  type ParamsOf,
  type PlainChannelProperty,
} from '@natter/contracts';
import { authorOfPermissions, duplicateAs, sql } from '@natter/database';
import { hasContentAccess, updatedSetting } from '@natter/permissions';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { knowersOf, to } from '../model/audience.ts';
import type { Entered } from '../model/authorization.ts';
import { formsOf } from '../model/channel-events.ts';
import { shownPermissions } from '../model/channel-object.ts';
import { channelPermissionNames, checkedPermissions, withoutInactiveGroups } from '../model/channel-permissions.ts';
import { type ChannelRow, namedActive } from '../model/channel-row.ts';
import { requireRoomForChannels, requireRoomForDescriptions } from '../model/create-channels.ts';
import { type Decision, deciding, type Service } from '../model/deciding.ts';
import { announceDefaults, type DefaultList } from '../model/default-events.ts';
import { checkedDescription } from '../model/descriptions.ts';
import { systemGroupsOf } from '../model/directory/directory.ts';
import { activeFolder } from '../model/folder-row.ts';
import { administeredChannel } from '../model/known-channel.ts';
import { type AnnouncedChange, changesIf, permissionChanges } from '../model/permission-changes.ts';
import { mustBeAdministrator } from '../model/refusals.ts';
import { type HtmlOf, renderedDescriptions } from '../model/rendered-descriptions.ts';
import { checkedRetention } from '../model/retention.ts';
import { announceChangeOfChannel } from '../model/visibility.ts';
import { archive, unarchive } from './archive-channel.ts';
import { changedPrivacy } from './privacy.ts';
import { type NamedTopics, namedTopics, requireOnlyEmptyTopic, requireTopicsPolicyRight } from './topics-policy.ts';

type Params = ParamsOf<typeof channelOperations.updateChannel> & {
  htmlOf: HtmlOf;
  /** The named topics of the channel; only read for a change to `empty_topic_only`. */
  named: NamedTopics | undefined;
};

export function updateChannelHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.updateChannel, async (context, params) => {
      const named =
        params.topics_policy === 'empty_topic_only' ? await namedTopics(service, context, params.stream_id) : undefined;
      const htmlOf = await renderedDescriptions(service, context.actor, [params.description]);
      return deciding(service, context, async (decision) => {
        const entered = await administeredChannel(decision, params.stream_id);
        if (params.is_archived === false) await unarchive(decision, entered);
        const lists = await change(decision, entered, { ...params, htmlOf, named });
        if (params.is_archived === true) lists.push(...(await archive(decision, entered)));
        await announceDefaults(decision, lists);
        return {};
      });
    }),
  ];
}

/** Returns the lists that the caller announces. */
async function change(decision: Decision, { channel, subscribers }: Entered, params: Params): Promise<DefaultList[]> {
  const { work, directory } = decision;
  const before = { ...channel };
  const knewBefore = knowersOf(channel, directory, subscribers);
  const after = await changed(decision, { channel, subscribers }, params);
  if (JSON.stringify(after) === JSON.stringify(before)) return [];
  await store(decision, before, after);
  if (JSON.stringify(after.permissions) !== JSON.stringify(before.permissions))
    await requireRoomForChannels(decision, { before: before.permissions, after: after.permissions });
  if (after.rendered_description.length > before.rendered_description.length)
    await requireRoomForDescriptions(decision, [after]);
  work.bump(`channel:${channel.id}`);
  const knowNow = knowersOf(after, directory, subscribers);
  const knewAllAlong = to([...knowNow].filter((id) => knewBefore.has(id)));
  for (const { body, before: old } of changesOf(before, after, decision))
    work.emit({
      type: 'stream',
      op: 'update',
      body,
      audience: knewAllAlong,
      note: await noteOf(decision, before, body, old),
      ...formsOf(after),
    });
  await announceChangeOfChannel(work, directory, after, { before: knewBefore, after: knowNow });
  const lists: DefaultList[] = after.is_default === before.is_default ? [] : ['channels'];
  if (after.is_private && !before.is_private && (await leaveDefaultGroups(decision, channel))) lists.push('groups');
  Object.assign(channel, after);
  return lists;
}

/** The payload of the event: for the bot that announces changes, and for bots that send to the channel by its name. */
async function noteOf(
  { work, actor, policy }: Decision,
  channel: ChannelRow,
  { property }: ChannelChange,
  before: unknown,
) {
  const note = { by: actor.userId, before };
  if (property === 'message_retention_days')
    return { ...note, realm_retention_days: policy.settings.message_retention_days };
  // Names of active channels are unique.
  if (property !== 'name' || !channel.is_archived) return note;
  const used = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT c.id FROM channels.channel c WHERE ${namedActive(work.realmId, channel.name)}`);
  return used ? { ...note, is_former_name_used: true as const } : note;
}

/** Everyone may read the channels of a default channel group, so a private channel is removed from all. */
async function leaveDefaultGroups({ work }: Decision, { id }: ChannelRow): Promise<boolean> {
  const left = await work.run(sql.unsafe`DELETE FROM channels.default_group_channel WHERE channel_id = ${id}`);
  return left > 0;
}

/** The channel after the change; refuses invalid changes, and those that this actor may not make. */
async function changed(decision: Decision, { channel, subscribers }: Entered, params: Params): Promise<ChannelRow> {
  const { work, actor } = decision;
  const after: ChannelRow = { ...channel, permissions: { ...channel.permissions } };
  const needsContent = (): void => {
    if (!hasContentAccess(channel, actor, subscribers.has(actor.userId)))
      throw badRequest('Channel content access is required.');
  };
  if (params.new_name !== undefined) {
    after.name = checkedChannelName(params.new_name);
    if (after.name === channel.name) throw badRequest('Channel already has that name.');
  }
  if (params.description !== undefined) {
    after.description = checkedDescription(params.description);
    after.rendered_description = params.htmlOf(after.description);
  }
  if (params.message_retention_days !== undefined)
    after.message_retention_days = checkedRetention(decision, params.message_retention_days, true);
  if (params.folder_id !== undefined && params.folder_id !== channel.folder_id)
    after.folder_id = params.folder_id === null ? null : (await activeFolder(work, params.folder_id)).id;
  if (params.topics_policy !== undefined && params.topics_policy !== channel.topics_policy) {
    requireTopicsPolicyRight(decision);
    if (params.named) requireOnlyEmptyTopic(work, channel.id, params.named);
    after.topics_policy = params.topics_policy;
  }
  Object.assign(after, changedPrivacy(decision, channel, params, needsContent));
  if (params.is_default_stream !== undefined && params.is_default_stream !== channel.is_default) {
    if (!isAdministrator(actor)) throw mustBeAdministrator();
    after.is_default = params.is_default_stream;
  }
  if (after.is_default && after.is_private) throw badRequest('A default channel cannot be private.');
  if (after.is_default && after.is_archived) throw badRequest('Channel is deactivated');
  Object.assign(after.permissions, await changedPermissions(decision, channel, params, needsContent));
  if (params.is_archived === false)
    Object.assign(after.permissions, await withoutInactiveGroups(decision, after.permissions));
  return after;
}

/** Permissions that give access to content may be changed only by actors who have that access. */
const needContent = new Set<string>(
  channelPermissionNames.filter(
    (name) =>
      !['can_remove_subscribers_group', 'can_administer_channel_group', 'can_send_message_group'].includes(name),
  ),
);

async function changedPermissions(decision: Decision, channel: ChannelRow, params: Params, needsContent: () => void) {
  const updates = channelPermissionNames.flatMap((name) => {
    const value = updatedSetting(channel.permissions[name], params[name], decision.directory.inactive);
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const [name] of updates) if (needContent.has(name)) needsContent();
  return checkedPermissions(decision, Object.fromEntries(updates), channel.permissions);
}

async function store({ work, actor }: Decision, before: ChannelRow, row: ChannelRow): Promise<void> {
  const author = authorOfPermissions(actor.userId, before.permissions, row.permissions);
  await work
    .run(sql.unsafe`
      UPDATE channels.channel SET name = ${row.name}, description = ${row.description}, rendered_description = ${row.rendered_description},
        is_private = ${row.is_private}, is_web_public = ${row.is_web_public}, history_public = ${row.history_public}, is_default = ${row.is_default},
        message_retention_days = ${row.message_retention_days}, topics_policy = ${row.topics_policy}, folder_id = ${row.folder_id},
        permissions = ${JSON.stringify(row.permissions)}::jsonb, permissions_by = ${author}
      WHERE realm_id = ${work.realmId} AND id = ${row.id}`)
    .catch(duplicateAs(() => badRequest('Channel name already in use.')));
}

function changesOf(before: ChannelRow, after: ChannelRow, { directory }: Decision): AnnouncedChange[] {
  const changes: AnnouncedChange[] = [];
  // The name under which clients know the channel until they process this event.
  const named = { stream_id: after.id, name: before.name };
  const add = <P extends PlainChannelProperty>(property: P, old: ChannelValue<P>, value: ChannelValue<P>): void => {
    changes.push(...changesIf(named, property, old, value));
  };
  if (before.name !== after.name)
    changes.push({ body: { ...named, property: 'name', value: after.name }, before: before.name });
  if (before.description !== after.description)
    changes.push({
      body: {
        ...named,
        property: 'description',
        value: after.description,
        rendered_description: after.rendered_description,
      },
      before: before.description,
    });
  const isOpenedOrClosed = before.is_private !== after.is_private || before.is_web_public !== after.is_web_public;
  if (isOpenedOrClosed || before.history_public !== after.history_public)
    changes.push({
      body: {
        ...named,
        property: 'invite_only',
        value: after.is_private,
        history_public_to_subscribers: after.history_public,
        is_web_public: after.is_web_public,
      },
      before: {
        invite_only: before.is_private,
        history_public_to_subscribers: before.history_public,
        is_web_public: before.is_web_public,
      },
    });
  // Many clients update this only as part of the event above.
  if (!isOpenedOrClosed) add('history_public_to_subscribers', before.history_public, after.history_public);
  add('message_retention_days', before.message_retention_days, after.message_retention_days);
  add('topics_policy', before.topics_policy, after.topics_policy);
  add('folder_id', before.folder_id, after.folder_id);
  const was = shownPermissions(before, directory.inactive);
  const is = shownPermissions(after, directory.inactive);
  return [...changes, ...permissionChanges(named, was, is, systemGroupsOf(directory))];
}
