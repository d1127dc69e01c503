import { badRequest, idSet, messageChangeOperations, type RequestMeta } from '@natter/contracts';
import { type Database, lockForEach, requireEventRoom, sql, type Work } from '@natter/database';
import { type RealmPolicies, realmVersions } from '@natter/realm-policy';
import {
  type Handlers,
  handleWrite,
  type Owner,
  oneByOne,
  type UserContext,
  type WriteContext,
} from '@natter/service-kit';
import { emitChannelBegins } from '../model/changes/channel-begins.ts';
import { deletionEvents } from '../model/changes/delete-event.ts';
import { type ChannelAccess, channelVersions } from '../model/channel-access.ts';
import type { PostingRules } from '../model/channel-cache.ts';
import { decideOnCurrent } from '../model/decide-on-current.ts';
import { filesReferredBy, noFiles, referencesOfEdit } from '../model/files/references.ts';
import { linkifiersOf } from '../model/linkifiers.ts';
import type { MessageAccess, ReadableMessage } from '../model/message-access.ts';
import { withActor } from '../model/message-audience.ts';
import { flagsOfReceivers } from '../model/readers.ts';
import type { RenderContent } from '../model/sending/render-content.ts';
import { hasProtectedHistory } from '../model/subscription-periods.ts';
import { withdraw } from '../model/withdrawals.ts';
import { admitMove, type Move } from './admit-move.ts';
import { type Change, decideChange, isOnlyResolution, type Params } from './change-decision.ts';
import { receivers } from './change-receivers.ts';
import { followMove } from './follow-move.ts';
import { type Anchor, anchorColumns, anchorRow, lockAnchor, lockMoved, writeChange } from './moved-messages.ts';
import { dropWaitingNotice } from './undo-resolution.ts';
import { updateEvent } from './update-event.ts';

interface Sources {
  channels: ChannelAccess;
  messages: MessageAccess;
  policies: RealmPolicies;
  renderContent: RenderContent;
}

/** Edits of content, and moves between topics and channels. */
export function updateMessageHandlers(owner: Owner, sources: Sources): Handlers {
  const { database } = owner;
  /** How many messages each running request has counted. */
  const counted = new WeakMap<RequestMeta, number>();
  return [
    handleWrite(messageChangeOperations.updateMessage, async (context, params) => {
      const { actor, meta } = context;
      const message = await sources.messages.readable(database, actor, meta, params.message_id);
      const anchor = await readAnchor(database, actor.realmId, message.id);
      const { change, expected } = await decide(context, params, message, anchor);
      const rendered =
        change.content === undefined
          ? undefined
          : await sources.renderContent(context, change.content, message, change.topic ?? anchor.topic);
      const shared =
        change.content === undefined
          ? noFiles
          : await filesReferredBy({ database, access: sources.channels }, context, change.content);
      const isMove = change.topic !== undefined || change.target !== undefined;
      const topic = change.topic ?? anchor.topic;
      const [links = []] =
        isMove && topic !== ''
          ? await owner.renderer.topicLinks(actor, [topic], await linkifiersOf(database, actor.realmId))
          : [];
      const onlySeenBy = message.channel && hasProtectedHistory(message.channel) ? actor.userId : undefined;
      const counted =
        isMove && change.mode !== 'change_one' ? await admit(context, { message, anchor, change, onlySeenBy }) : 1;
      return context.write(async (work) => {
        work.expectVersions(expected);
        // The decision may have used a later copy of the channel than the one by which the actor reads the message.
        if (message.channel) work.expectVersions(channelVersions(message.channel));
        if (rendered) work.expectVersions(rendered.expected);
        work.expectVersions(shared.expected);
        const isUndone = isMove && (await dropUndone(work, anchor, change));
        // The messages of the move in their order, not the anchor first.
        const messageIds = isMove ? await lockMoved(work, anchor, change, { counted, onlySeenBy }) : [anchor.id];
        await lockAnchor(work, anchor);
        // Before the move: the users who could see it at the old place.
        const { audience, losers } = await receivers(work, message, change, messageIds);
        if (losers.length > 0) requireEventRoom(messageIds.length);
        if (message.channel) await lockBegins(work, message.channel, change);
        const written = { userId: actor.userId, anchor, change, messageIds, rendered };
        const at = await writeChange(work, written);
        const flags = await flagsOfReceivers(work, work.realmId, message);
        const event = { ...written, flags, topicLinks: links, channel: message.channel, at };
        work.emit(updateEvent({ ...event, audience: withActor(audience, actor.userId) }));
        if (message.channel && losers.length > 0) {
          const where = { channelId: message.channel.channel_id, topic: anchor.topic };
          for (const lost of deletionEvents(where, messageIds, { users: idSet(losers) })) work.emit(lost);
          await withdraw(work, losers, messageIds);
        }
        if (message.channel && change.target) await emitChannelBegins(work, message.channel.channel_id, messageIds);
        if (message.channel && isMove) {
          const move = {
            moverId: actor.userId,
            anchor,
            channel: message.channel,
            change,
            messageIds,
            isUndone,
            params,
          };
          await followMove(work, move);
        }
        const { content } = change;
        return {
          detached_uploads:
            content === undefined
              ? []
              : await referencesOfEdit(work, actor, anchor.id, { content, referred: shared.fileIds }),
        };
      });
    }),
  ].map((handler) => oneByOne(handler, (params) => `message ${params.message_id}`));

  async function admit(
    { actor, meta, write }: WriteContext,
    move: Omit<Move, 'mover' | 'requestId' | 'known'>,
  ): Promise<number> {
    // The bots of a user share the allowance of the user.
    const mover = actor.botOwnerId ?? actor.userId;
    const known = counted.get(meta) ?? 0;
    const admitted = { ...move, mover, requestId: meta.requestId, known };
    const count = await write((work) => admitMove(work, admitted), { isPart: true });
    counted.set(meta, Math.max(count, known));
    return count;
  }

  async function decide(
    context: UserContext,
    params: Params,
    message: ReadableMessage,
    anchor: Anchor,
  ): Promise<{ change: Change; expected: Record<string, number> }> {
    const { actor, meta } = context;
    return decideOnCurrent(context, async (fresh) => {
      const policy = await sources.policies.get(meta, fresh);
      const channel =
        message.channel && fresh
          ? await sources.channels.readable(actor, meta, message.channel.channel_id, true)
          : message.channel;
      const target =
        params.stream_id === undefined || !channel
          ? undefined
          : await sources.channels.readable(actor, meta, params.stream_id, fresh);
      const now = Date.now() / 1000;
      const change = decideChange(params, { actor, message: anchor, channel, target, policy, now });
      const expected = {
        ...realmVersions(policy),
        ...(channel ? channelVersions(channel) : {}),
        ...(target ? channelVersions(target) : {}),
      };
      return { change, expected };
    });
  }
}

async function readAnchor(database: Database, realmId: number, id: number): Promise<Anchor> {
  const anchor = await database.maybeOne(sql.type(anchorRow)`
    SELECT ${anchorColumns} FROM messaging.message m WHERE m.realm_id = ${realmId} AND m.id = ${id}`);
  if (!anchor) throw badRequest('Invalid message(s)');
  return anchor;
}

/**
 * Moves between channels and removals from them are serialized: a removal that did not see a message that is moved in
 * would announce a later message as the first. A resolution may remove a notice, after it locked preferences of the topic.
 */
async function lockBegins(work: Work, channel: PostingRules, change: Change): Promise<void> {
  if (!change.target && !isOnlyResolution(change)) return;
  const channels = change.target ? [channel, change.target] : [channel];
  await lockForEach(
    work,
    'channel-begin',
    channels.map(({ channel_id }) => channel_id),
  );
}

/** Drops the waiting notice about a topic that is resolved or reopened again; returns whether there was one. */
async function dropUndone(work: Work, { channel_id, topic }: Anchor, change: Change): Promise<boolean> {
  // The notice would stay in the topic if one message left it.
  if (!isOnlyResolution(change) || change.mode === 'change_one' || channel_id === null) return false;
  return dropWaitingNotice(work, { channelId: channel_id, topic });
}
