import { ChatError, hasId, maxId, type RequestMeta, sizeOf } from '@natter/contracts';
import { type Database, sql, withDeadline } from '@natter/database';
import { hasMetadataAccess } from '@natter/permissions';
import { type Background, besideWrite, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { channelVersions } from '../model/channel-access.ts';
import type { ChannelCache, PostingRules } from '../model/channel-cache.ts';
import { groupVersions } from '../model/group-versions.ts';
import { asCode, type NoticeText, notice, placeLink, strong } from '../model/notice-text.ts';
import { mayNotify, notifyOwner } from '../model/notify-owner.ts';
import { dueNow } from '../model/scheduler-hint.ts';
import { singleChannel } from '../model/sending/destination.ts';
import { holderOf } from '../model/sending/posting-rights.ts';
import type { Params } from '../model/sending/send-params.ts';

interface Notifying {
  database: Database;
  background: Background;
  channels: ChannelCache;
  hint: (dueSeconds: number) => void;
}

interface Notice {
  content: NoticeText;
  /** The expected versions of the data that the owner sees in it. */
  expected: Record<string, number>;
}

export const isUnknownChannel = (error: unknown): boolean =>
  error instanceof ChatError && error.code === 'STREAM_DOES_NOT_EXIST';

/**
 * Notifies the owner of a bot that its message was refused because the channel does not exist, or was sent to a channel
 * without subscribers. A failure does not change the result of the request.
 */
export async function notifyOfChannel(
  notifying: Notifying,
  context: Pick<UserContext, 'actor' | 'meta' | 'log' | 'deadline'>,
  params: Pick<Params, 'type' | 'to'>,
  outcome: 'sent' | 'refused',
): Promise<void> {
  const ownerId = context.actor.botOwnerId;
  if (ownerId === undefined || (params.type !== 'channel' && params.type !== 'stream')) return;
  // A repeated request notifies nobody: the owner was notified recently.
  const work = () => besideWrite(() => notify(notifying, context, { ownerId, to: singleChannel(params.to), outcome }));
  await withDeadline(context.deadline.remainingMs() / 2, work).catch((error: unknown) =>
    context.log.warn({ err: error }, 'notifying the owner of a bot about a channel failed'),
  );
}

interface Attempt {
  ownerId: number;
  to: number | string;
  outcome: 'sent' | 'refused';
}

type Asking = Pick<UserContext, 'actor' | 'meta'>;

async function notify(notifying: Notifying, asking: Asking, attempt: Attempt): Promise<void> {
  const { database, background, channels, hint } = notifying;
  const { realmId, userId: botId } = asking.actor;
  const { ownerId, to, outcome } = attempt;
  // The copy by which the message was sent.
  if (outcome === 'sent' && sizeOf((await channels.get(to, asking.meta, false)).subscribers) > 0) return;
  const failing = { kind: 'channel', realmId, botId } as const;
  const { may } = await database.one(sql.type(z.object({ may: z.boolean() }))`SELECT ${mayNotify(failing)} AS may`);
  const found = may ? await noticeOf(notifying, asking, attempt) : undefined;
  if (!found) return;
  await background(realmId, async (work) => {
    work.expectVersions(found.expected);
    await notifyOwner(work, failing, { ownerId, content: found.content });
  });
  hint(dueNow);
}

/** The owner of a bot reads about a channel that they may not see the same as about one that does not exist. */
async function noticeOf(
  { database, channels }: Notifying,
  { actor, meta }: Asking,
  { ownerId, to, outcome }: Attempt,
): Promise<Notice | undefined> {
  const bot = asCode(actor.email);
  const expected = await groupVersions(database, actor.realmId, [ownerId]);
  const channel = typeof to === 'number' && Math.abs(to) > maxId ? undefined : await find(channels, to, meta);
  const isSeen = channel !== undefined && (await isSeenBy(database, actor.realmId, channel, ownerId));
  if (isSeen && sizeOf(channel.subscribers) === 0) {
    const content = notice`Your bot ${bot} tried to send a message to channel ${placeLink(channel)}. The channel exists but does not have any subscribers.`;
    return { content, expected: { ...expected, ...channelVersions(channel) } };
  }
  if (isSeen || outcome === 'sent') return undefined;
  const content =
    typeof to === 'number'
      ? notice`Your bot ${bot} tried to send a message to channel ID ${to}, but there is no channel with that ID.`
      : notice`Your bot ${bot} tried to send a message to channel ${strong(shortened(to))}, but that channel does not exist. Click [here](#channels/new) to create it.`;
  return { content, expected: {} };
}

const find = (channels: ChannelCache, to: number | string, meta: RequestMeta): Promise<PostingRules | undefined> =>
  channels.get(to, meta, true).catch((error: unknown) => {
    if (isUnknownChannel(error)) return undefined;
    throw error;
  });

async function isSeenBy(database: Database, realmId: number, channel: PostingRules, userId: number): Promise<boolean> {
  const holder = await holderOf(database, realmId, userId);
  return hasMetadataAccess(channel, holder, hasId(channel.subscribers, userId));
}

/** Names of channels are shorter. */
const mostShown = 100;

const shortened = (name: string): string => {
  const characters = [...name];
  return characters.length > mostShown ? `${characters.slice(0, mostShown).join('')}…` : name;
};
