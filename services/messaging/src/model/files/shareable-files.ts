import type { Actor, RequestMeta } from '@natter/contracts';
import { appliedNumber, type Database, type Executor, sql, VersionsChanged } from '@natter/database';
import { z } from 'zod';
import { type ChannelAccess, channelVersions } from '../channel-access.ts';
import type { PostingRules } from '../channel-cache.ts';
import { accessible, readableBy } from '../reading/readable.ts';
import { hasProtectedHistory, isSeenBy } from '../subscription-periods.ts';
import { isWaiting, type WaitingEvent } from '../waiting-events.ts';
import { type FileRow, lookedAt } from './file-access.ts';

type Owned = Pick<FileRow, 'id' | 'owner_id'>;

/** A message that links a file of another user. */
const referenceRow = z.object({ file_id: z.number(), message_id: z.number(), channel_id: z.number().nullable() });
type Reference = z.infer<typeof referenceRow>;
const seenRow = z.object({ applied: z.number(), ids: z.array(z.number()) });

export interface Sharing {
  database: Database;
  access: ChannelAccess;
}

interface Author {
  actor: Actor;
  meta: RequestMeta;
}

interface Shareable {
  fileIds: ReadonlySet<number>;
  /** The versions of the channels that give the author access to files of others. */
  expected: Record<string, number>;
}

/**
 * The files among these that the author may share: their own, and those in a message that they may read. The projections may be
 * outdated, so they only select messages. The current copies of the channels of these messages decide.
 */
export async function shareableBy(sharing: Sharing, author: Author, files: readonly Owned[]): Promise<Shareable> {
  const isOwn = ({ owner_id }: Owned): boolean => owner_id === author.actor.userId;
  const fileIds = new Set(files.filter(isOwn).map(({ id }) => id));
  let expected: Record<string, number> = {};
  for (const find of [readableReferences, someReferences]) {
    const others = files.map(({ id }) => id).filter((id) => !fileIds.has(id));
    if (others.length === 0) break;
    const references = await find(sharing.database, author, others);
    const { isReadable, channels } = await readable(sharing, author, references);
    for (const reference of references) {
      if (fileIds.has(reference.file_id) || !isReadable(reference)) continue;
      fileIds.add(reference.file_id);
      const channel = channelOf(reference, channels);
      // A copy that was read later does not replace an earlier one.
      if (channel) expected = { ...channelVersions(channel), ...expected };
    }
  }
  return { fileIds, expected };
}

type Channels = ReadonlyMap<number, PostingRules>;

const channelOf = ({ channel_id }: Reference, channels: Channels): PostingRules | undefined =>
  channel_id === null ? undefined : channels.get(channel_id);

/** Of each file one message that the author may read by the projections, if there is one. */
async function readableReferences(executor: Executor, { actor, meta }: Author, fileIds: number[]) {
  const condition = accessible(await readableBy(executor, meta, actor), actor);
  return executor.any(sql.type(referenceRow)`
    SELECT DISTINCT ON (am.attachment_id) am.attachment_id AS file_id, m.id AS message_id, m.channel_id
    FROM messaging.attachment_message am
    JOIN messaging.message m ON m.realm_id = am.realm_id AND m.id = am.message_id
    WHERE am.realm_id = ${meta.realmId} AND am.attachment_id = ANY(${sql.array(fileIds, 'int4')}) AND ${condition}
    ORDER BY am.attachment_id, m.channel_id IS NOT NULL, m.id DESC`);
}

/**
 * A bounded number of messages in channels, because a group permission may give the author access to them: the newest message of
 * each file, then the next of each. So many messages with one file leave out no other file.
 */
async function someReferences(executor: Executor, { meta: { realmId } }: Author, fileIds: number[]) {
  const references = await executor.any(sql.type(referenceRow)`
    SELECT f.id AS file_id, newest.message_id, m.channel_id FROM unnest(${sql.array(fileIds, 'int4')}) AS f (id), LATERAL (
      SELECT am.message_id, row_number() OVER (ORDER BY am.message_id DESC) AS place FROM (
        SELECT message_id FROM messaging.attachment_message
        WHERE realm_id = ${realmId} AND attachment_id = f.id ORDER BY message_id DESC LIMIT ${lookedAt}) am) newest
    JOIN messaging.message m ON m.realm_id = ${realmId} AND m.id = newest.message_id
    WHERE m.channel_id IS NOT NULL ORDER BY newest.place, newest.message_id DESC`);
  const messageIds = [...new Set(references.map(({ message_id }) => message_id))].slice(0, lookedAt);
  return references.filter(({ message_id }) => messageIds.includes(message_id));
}

/** Decides which of these messages the author may read, by the current copies of their channels. */
async function readable(
  { database, access }: Sharing,
  { actor, meta }: Author,
  references: readonly Reference[],
): Promise<{ isReadable: (reference: Reference) => boolean; channels: Channels }> {
  const channelIds = new Set(references.flatMap(({ channel_id }) => channel_id ?? []));
  const channels = await access.readableAmong(actor, meta, [...channelIds]);
  const isProtected = (reference: Reference): boolean => {
    const channel = channelOf(reference, channels);
    return channel !== undefined && hasProtectedHistory(channel);
  };
  const seen = await seenAmong(database, actor, references.filter(isProtected));
  const isReadable = (reference: Reference): boolean =>
    isProtected(reference)
      ? seen.has(reference.message_id)
      : reference.channel_id === null || channels.has(reference.channel_id);
  return { isReadable, channels };
}

/**
 * The messages of channels with protected history that the author has received. Throws `VersionsChanged` if the periods lack a
 * subscription of the author to one of the channels, or its end.
 */
async function seenAmong(
  database: Database,
  { realmId, userId }: Actor,
  references: readonly Reference[],
): Promise<ReadonlySet<number>> {
  if (references.length === 0) return new Set();
  const messageIds = references.map(({ message_id }) => message_id);
  const { applied, ids } = await database.one(sql.type(seenRow)`
    SELECT ${appliedNumber('messaging', realmId, 'periods')} AS applied, coalesce((SELECT json_agg(m.id) FROM messaging.message m
      WHERE m.realm_id = ${realmId} AND m.id = ANY(${sql.array(messageIds, 'int8')}) AND ${isSeenBy(userId)}), '[]') AS ids`);
  const channelIds = new Set(references.map(({ channel_id }) => channel_id));
  const isOfAuthor = ({ users, channels }: WaitingEvent): boolean =>
    (users?.includes(userId) ?? false) && (channels?.some((id) => channelIds.has(id)) ?? false);
  const matters = { 'subscription/add': isOfAuthor, 'subscription/remove': isOfAuthor };
  if (await isWaiting(database, realmId, { consumer: 'periods', types: ['subscription'], matters, applied }))
    throw new VersionsChanged(`subscriptions of user ${userId}`, 'row');
  return new Set(ids);
}
