import {
  type Actor,
  badRequest,
  type channelOperations,
  insufficientPermission,
  isAdministrator,
  isGuest,
  type ParamsOf,
  perRequest,
  totals,
} from '@natter/contracts';
import { requireRoom, requireRoomForPermissions, requireShare, sql, type Work } from '@natter/database';
import { isSameSetting } from '@natter/permissions';
import { z } from 'zod';
import { knowersOf, to } from './audience.ts';
import { contextOf, toChannel } from './channel-object.ts';
import { channelPermissionNames, checkedPermissions, defaultPermissions } from './channel-permissions.ts';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';
import { type Decision, hasRealmPermission, maySetPolicy } from './deciding.ts';
import { announceDefaults } from './default-events.ts';
import { activeFolder } from './folder-row.ts';
import { grouped } from './grouped.ts';
import { checkedRetention } from './retention.ts';
import { checkMayBeWebPublic } from './web-public.ts';

/** The initial configuration, with the parameters shared by both ways to create a channel. */
type CreationParams = Omit<ParamsOf<typeof channelOperations.createChannel>, 'name' | 'description' | 'subscribers'>;
type Decided = 'announce' | 'invite_only' | 'is_web_public' | 'is_default_stream';
export type Configuration = Pick<CreationParams, Decided> & Partial<Omit<CreationParams, Decided>>;

/** The configuration of channels that are created without one. */
export const plainConfiguration: Configuration = {
  announce: false,
  invite_only: false,
  is_web_public: false,
  is_default_stream: false,
};

export interface NewChannel {
  name: string;
  description: string;
  /** The rendered description. */
  html: string;
}

/** Creates channels with one configuration. Emits nothing: `announceChannels` does when the subscribers are known. */
export async function createChannels(
  decision: Decision,
  wanted: readonly NewChannel[],
  configuration: Configuration,
): Promise<ChannelRow[]> {
  if (wanted.length === 0) return [];
  const { work, actor, policy } = decision;
  checkMayCreate(decision, configuration);
  const { invite_only, is_web_public, is_default_stream, topics_policy = 'inherit' } = configuration;
  const retention = checkedRetention(decision, configuration.message_retention_days);
  const folder = configuration.folder_id == null ? null : (await activeFolder(work, configuration.folder_id)).id;
  const usual = defaultPermissions(policy.system_groups, actor.userId);
  // Naming a default value requires no permission.
  const named = channelPermissionNames.filter(
    (name) => !isSameSetting(configuration[name] ?? usual[name], usual[name]),
  );
  const given = await checkedPermissions(
    decision,
    Object.fromEntries(named.map((name) => [name, configuration[name]])),
  );
  const permissions = { ...usual, ...given };
  const historyPublic = !invite_only || (configuration.history_public_to_subscribers ?? false);
  if (wanted.length > perRequest.newChannels)
    throw badRequest(`You can create at most ${perRequest.newChannels} channels at once.`);
  if (JSON.stringify(permissions).length * wanted.length > perRequest.newPermissions)
    throw badRequest('The permissions of the channels name too many users. Create fewer channels at once.');
  const created = await insertChannels(work, wanted, {
    creatorId: actor.userId,
    isPrivate: invite_only,
    isWebPublic: is_web_public,
    historyPublic,
    isDefault: is_default_stream,
    retention,
    topicsPolicy: topics_policy,
    folder,
    permissions,
  });
  if (created.length < wanted.length) await requireAllCreated(work, wanted, created);
  await requireRoomForChannels(decision, { after: permissions, added: created.length });
  await requireRoomForDescriptions(decision, created);
  return created;
}

interface Inserted {
  creatorId: number;
  isPrivate: boolean;
  isWebPublic: boolean;
  historyPublic: boolean;
  isDefault: boolean;
  retention: number | null;
  topicsPolicy: string;
  folder: number | null;
  permissions: object;
}

/**
 * Leaves out names that are taken, and all but the first of names that the database takes for the same. The order is always
 * the same: two requests that create the same channels wait for each other only once.
 */
export async function insertChannels(
  work: Work,
  wanted: readonly NewChannel[],
  values: Inserted,
): Promise<ChannelRow[]> {
  const texts = sql.join(
    wanted.map(({ name, description, html }, index) => sql.fragment`(${index}::int, ${name}, ${description}, ${html})`),
    sql.fragment`, `,
  );
  const rows = await work.any(sql.type(channelRow)`
    INSERT INTO channels.channel AS c (realm_id, name, description, rendered_description, creator_id, is_private, is_web_public,
      history_public, is_default, message_retention_days, topics_policy, folder_id, permissions)
    SELECT ${work.realmId}, t.name, t.description, t.rendered, ${values.creatorId}, ${values.isPrivate}, ${values.isWebPublic},
      ${values.historyPublic}, ${values.isDefault}, ${values.retention}, ${values.topicsPolicy}, ${values.folder},
      ${JSON.stringify(values.permissions)}::jsonb
    FROM (VALUES ${texts}) AS t (position, name, description, rendered)
    ORDER BY lower(t.name), t.position
    ON CONFLICT DO NOTHING
    RETURNING ${channelColumns}`);
  return [...rows];
}

const wantedRow = z.object({ name: z.string() });

/** Another transaction created one of the others meanwhile: the unit runs again and finds it. */
async function requireAllCreated(
  work: Work,
  wanted: readonly NewChannel[],
  created: readonly ChannelRow[],
): Promise<void> {
  const namesOf = (list: readonly { name: string }[]) =>
    sql.array(
      list.map(({ name }) => name),
      'text',
    );
  const missing = await work.any(sql.type(wantedRow)`
    SELECT name FROM unnest(${namesOf(wanted)}) name
    WHERE lower(name) NOT IN (SELECT lower(made) FROM unnest(${namesOf(created)}) made)`);
  if (missing.length > 0) throw Object.assign(new Error('channel name taken meanwhile'), { code: '40001' });
}

/** The bytes of a usual description and its HTML. */
const usualDescription = 600;
const isLong = ({ description, rendered_description }: ChannelRow): boolean =>
  Buffer.byteLength(description) + Buffer.byteLength(rendered_description) > usualDescription;

/**
 * Call it after these channels, which one user created, got their descriptions. Rendering may turn 1,000 characters into
 * 30 KB of HTML. The text counts for the creator of a channel, whoever wrote it.
 */
export async function requireRoomForDescriptions(
  { work, actor }: Decision,
  channels: readonly ChannelRow[],
): Promise<void> {
  if (!channels.some(isLong)) return;
  const bytes = sql.fragment`(octet_length(description) + octet_length(rendered_description))`;
  const long = sql.fragment`channels.channel WHERE realm_id = ${work.realmId} AND ${bytes} > ${usualDescription}`;
  if (!isAdministrator(actor))
    await requireShare(
      work,
      totals.channelDescriptions,
      sql.fragment`${long} AND creator_id IN ${accountsFor(work, channels[0]?.creator_id ?? null)}`,
      bytes,
      channels.length,
    );
  await requireRoom(work, totals.channelDescriptions, long, bytes, channels.length);
}

/** Call it after channels were added with these permissions, or one got them in a change. */
export async function requireRoomForChannels(
  { work, actor }: Decision,
  { before, after, added = 1 }: { before?: object; after: object; added?: number },
): Promise<void> {
  await requireRoomForPermissions(work, {
    total: totals.channels,
    ofRealm: sql.fragment`channels.channel WHERE realm_id = ${work.realmId}`,
    accounts: isAdministrator(actor) ? undefined : accountsFor(work, actor.userId),
    before,
    after,
    added,
  });
}

/**
 * The person whose share this account uses, and their bots: a bot counts for the person who created it, also after it was
 * given to another user.
 */
function accountsFor({ realmId }: Work, accountId: number | null) {
  const person = sql.fragment`(SELECT coalesce(created_by, user_id) FROM channels.person
    WHERE realm_id = ${realmId} AND user_id = ${accountId}::int)`;
  return sql.fragment`(SELECT user_id FROM channels.person
    WHERE realm_id = ${realmId} AND (user_id = ${person} OR created_by = ${person}))`;
}

function checkMayCreate(decision: Decision, configuration: Configuration): void {
  const { invite_only, is_web_public, is_default_stream, topics_policy = 'inherit' } = configuration;
  if (isGuest(decision.actor)) throw badRequest('Not allowed for guest users');
  if (is_web_public && invite_only) throw badRequest('Invalid parameters');
  if (is_web_public) checkMayBeWebPublic(decision);
  const permission = invite_only ? 'can_create_private_channel_group' : 'can_create_public_channel_group';
  if (!is_web_public && !hasRealmPermission(decision, permission)) throw insufficientPermission();
  if (is_default_stream && !isAdministrator(decision.actor)) throw insufficientPermission();
  if (is_default_stream && invite_only) throw badRequest('A default channel cannot be private.');
  if (topics_policy !== 'inherit' && !maySetPolicy(decision, 'can_set_topics_policy_group'))
    throw insufficientPermission();
}

/**
 * Emits new channels to all users who can see them, and to their future subscribers. They have no subscribers at first;
 * later events add them. The note is for the bot that announces channels.
 */
export async function announceChannels(
  { work, directory, actor }: Pick<Decision, 'work' | 'directory'> & { actor: Pick<Actor, 'userId'> },
  created: readonly { channel: ChannelRow; willSubscribe: readonly number[] }[],
  { announce, is_default_stream }: Pick<Configuration, 'announce' | 'is_default_stream'>,
): Promise<void> {
  const announced = created.map(({ channel, willSubscribe }) => ({
    channel,
    knowers: [...new Set([...knowersOf(channel, directory, new Set(willSubscribe)), ...willSubscribe])],
  }));
  const context = contextOf(directory);
  for (const group of grouped(announced, ({ knowers }) => knowers.join()))
    work.emit({
      type: 'stream',
      op: 'create',
      body: { streams: group.map(({ channel }) => toChannel(channel, context, 0)) },
      audience: to(group[0]?.knowers ?? []),
      note: { is_new: true, announce, creator_id: actor.userId, channel_ids: group.map(({ channel }) => channel.id) },
    });
  if (is_default_stream && created.length > 0) await announceDefaults({ work, directory }, ['channels']);
}
