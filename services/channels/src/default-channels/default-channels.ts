import { badRequest, channelOperations, totals } from '@natter/contracts';
import { duplicateAs, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { type ChannelRow, channelColumns, channelRow } from '../model/channel-row.ts';
import { type Decision, deciding, type Service } from '../model/deciding.ts';
import { announceDefaults } from '../model/default-events.ts';
import { askedFor, namedRow } from '../model/enter.ts';
import { invalidChannelId, unknownChannelName } from '../model/refusals.ts';

export function defaultChannelHandlers(service: Service): Handlers {
  return [
    handleWrite(channelOperations.addDefaultChannel, (context, params) =>
      deciding(service, context, async (decision) => {
        const channel = await activeChannel(decision, params.stream_id);
        if (channel.is_private) throw badRequest('Private channels cannot be made default.');
        if (channel.is_default) throw badRequest('This channel is already a default channel.');
        await setDefault(decision, channel, true);
        return {};
      }),
    ),

    handleWrite(channelOperations.removeDefaultChannel, (context, params) =>
      deciding(service, context, async (decision) => {
        const channel = await activeChannel(decision, params.stream_id);
        if (channel.is_default) await setDefault(decision, channel, false);
        return {};
      }),
    ),

    handleWrite(channelOperations.createDefaultGroup, (context, params) =>
      deciding(service, context, async (decision) => {
        const { work } = decision;
        const name = checkedName(params.group_name);
        const channels = await channelsNamed(decision, params.stream_names);
        for (const channel of channels) mustNotBeDefault(channel, name);
        const { id } = await unlessTaken(
          name,
          work.one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO channels.default_group (realm_id, name, description) VALUES (${work.realmId}, ${name}, ${params.description}) RETURNING id`),
        );
        await requireRoom(
          work,
          totals.defaultChannelGroups,
          sql.fragment`channels.default_group WHERE realm_id = ${work.realmId}`,
        );
        await addChannels(work, id, channels);
        await announceDefaults(decision, ['groups']);
        return {};
      }),
    ),

    handleWrite(channelOperations.updateDefaultGroup, (context, params) =>
      deciding(service, context, async (decision) => {
        const { work } = decision;
        if (params.new_group_name === undefined && params.new_description === undefined)
          throw badRequest('You must pass "new_description" or "new_group_name".');
        const group = await lockedGroup(work, params.group_id);
        const name = params.new_group_name === undefined ? group.name : checkedName(params.new_group_name);
        if (params.new_group_name !== undefined && name === group.name)
          throw badRequest(`This default channel group is already named '${name}'`);
        await unlessTaken(
          name,
          work.run(sql.unsafe`
            UPDATE channels.default_group SET name = ${name}, description = ${params.new_description ?? group.description} WHERE id = ${group.id}`),
        );
        await announceDefaults(decision, ['groups']);
        return {};
      }),
    ),

    handleWrite(channelOperations.deleteDefaultGroup, (context, params) =>
      deciding(service, context, async (decision) => {
        const group = await lockedGroup(decision.work, params.group_id);
        await decision.work.run(sql.unsafe`DELETE FROM channels.default_group WHERE id = ${group.id}`);
        await announceDefaults(decision, ['groups']);
        return {};
      }),
    ),

    handleWrite(channelOperations.changeDefaultGroup, (context, params) =>
      deciding(service, context, async (decision) => {
        if (params.op !== 'add' && params.op !== 'remove')
          throw badRequest('Invalid value for "op". Specify one of "add" or "remove".');
        const { work } = decision;
        const group = await lockedGroup(work, params.group_id);
        const channels = await channelsNamed(decision, params.stream_names);
        const isAdding = params.op === 'add';
        for (const channel of channels) {
          if (isAdding) mustNotBeDefault(channel, group.name);
          if (group.streams.includes(channel.id) === isAdding)
            throw badRequest(
              `Channel '${channel.name}' is ${isAdding ? 'already' : 'not'} present in default channel group '${group.name}'`,
            );
        }
        if (isAdding) await addChannels(work, group.id, channels);
        else
          await work.run(sql.unsafe`
            DELETE FROM channels.default_group_channel WHERE group_id = ${group.id} AND channel_id = ANY(${idsOf(channels)})`);
        await announceDefaults(decision, ['groups']);
        return {};
      }),
    ),
  ];
}

async function activeChannel(decision: Decision, id: number): Promise<ChannelRow> {
  const { work } = decision;
  const channel = await work.maybeOne(sql.type(channelRow)`
    SELECT ${channelColumns} FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND c.id = ${id} AND NOT c.is_archived FOR UPDATE`);
  if (!channel) throw invalidChannelId();
  return channel;
}

async function setDefault(decision: Decision, { id }: ChannelRow, isDefault: boolean): Promise<void> {
  await decision.work.run(sql.unsafe`UPDATE channels.channel SET is_default = ${isDefault} WHERE id = ${id}`);
  await announceDefaults(decision, ['channels']);
}

async function channelsNamed({ work }: Decision, names: readonly string[]): Promise<ChannelRow[]> {
  const channels = await work.any(sql.type(namedRow)`
    SELECT ${channelColumns}, n.asked FROM channels.channel c JOIN ${askedFor(names)} ON n.name = lower(c.name)
    WHERE c.realm_id = ${work.realmId} AND NOT c.is_archived AND NOT c.is_private ORDER BY c.id FOR UPDATE OF c`);
  const known = new Set(channels.flatMap(({ asked }) => asked));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw unknownChannelName(unknown);
  return channels.map(({ asked: _, ...channel }) => channel);
}

function mustNotBeDefault(channel: ChannelRow, groupName: string): void {
  if (channel.is_default)
    throw badRequest(`'${channel.name}' is a default channel and cannot be added to '${groupName}'`);
}

function checkedName(name: string): string {
  const stripped = name.trim();
  if (stripped === '') throw badRequest(`Invalid default channel group name '${name}'`);
  if ([...stripped].length > 60) throw badRequest('Default channel group name too long (limit: 60 characters)');
  return stripped;
}

async function unlessTaken<R>(name: string, write: Promise<R>): Promise<R> {
  return write.catch(duplicateAs(() => badRequest(`Default channel group '${name}' already exists`)));
}

const groupRow = z.object({ id: z.number(), name: z.string(), description: z.string(), streams: z.array(z.number()) });

/** Locks a group, then reads it in another statement: the locking statement may return data from before its wait. */
async function lockedGroup(work: Work, id: number): Promise<z.infer<typeof groupRow>> {
  await work.run(
    sql.unsafe`SELECT FROM channels.default_group WHERE realm_id = ${work.realmId} AND id = ${id} FOR UPDATE`,
  );
  const group = await work.maybeOne(sql.type(groupRow)`
    SELECT id, name, description, ARRAY(SELECT channel_id FROM channels.default_group_channel WHERE group_id = g.id) AS streams
    FROM channels.default_group g WHERE realm_id = ${work.realmId} AND id = ${id}`);
  if (!group) throw badRequest(`Default channel group with id '${id}' does not exist.`);
  return group;
}

const idsOf = (channels: readonly ChannelRow[]) =>
  sql.array(
    channels.map(({ id }) => id),
    'int4',
  );

async function addChannels(work: Work, groupId: number, channels: readonly ChannelRow[]): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO channels.default_group_channel (group_id, channel_id) SELECT ${groupId}, id FROM unnest(${idsOf(channels)}) id ON CONFLICT DO NOTHING`);
}
