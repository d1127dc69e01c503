import { behindSnapshot, eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot } from '@natter/database';
import { type Handlers, handle, type Logger, type Owner } from '@natter/service-kit';
import { newestReceived } from '../model/newest-message.ts';
import type { SnapshotFor } from '../model/snapshot-for.ts';
import { isBehindFor } from './behind.ts';
import { draftsPart, mayLoseDrafts } from './drafts.ts';
import { raiseFloor, recentConversationsPart, starredPart, unreadPart } from './flags.ts';
import { remindersPart, scheduledMessagesPart } from './scheduled-messages.ts';
import { mutedTopicsPart, userTopicsPart } from './user-topics.ts';

/** The sections of a register by fetch type; each reads tables of this service only. */
const parts: Record<string, (executor: Executor, whom: SnapshotFor) => Promise<Record<string, unknown>>> = {
  message: newestReceived,
  drafts: draftsPart,
  starred_messages: starredPart,
  user_topic: userTopicsPart,
  muted_topics: mutedTopicsPart,
  recent_private_conversations: recentConversationsPart,
  scheduled_messages: scheduledMessagesPart,
  reminders: remindersPart,
};

/** Requires both types, because clients update it with both. */
const unreadTypes = ['message', 'update_message_flags'];

export function snapshotHandlers({ database }: Owner, log: Logger): Handlers {
  return [
    handle(eventQueueOperations.snapshotMessaging, async ({ meta }, { snapshot, types, user_id, capabilities }) => {
      // Clients that request both do not need the mutes, which the preferences include.
      const isSuperseded = (type: string): boolean => type === 'muted_topics' && types?.includes('user_topic') === true;
      const wanted = Object.entries(parts).filter(
        ([type]) => (types === null || types.includes(type)) && !isSuperseded(type),
      );
      const whom = { realmId: meta.realmId, userId: user_id, capabilities };
      const wantsUnread = types === null || unreadTypes.every((type) => types.includes(type));
      if (wanted.length === 0 && !wantsUnread) return {};
      const answer: Record<string, unknown> = {};
      const showsReceived = user_id !== 0 && (wantsUnread || wanted.some(([type]) => type === 'message'));
      const showsDrafts = user_id !== 0 && wanted.some(([type]) => type === 'drafts');
      const readThrough = await inSnapshot(database, snapshot, async (executor) => {
        if (showsReceived && (await isBehindFor(executor, whom))) throw behindSnapshot();
        if (showsDrafts && (await mayLoseDrafts(executor, whom))) throw behindSnapshot();
        for (const [, part] of wanted) Object.assign(answer, await part(executor, whom));
        if (!wantsUnread) return 0;
        const unread = await unreadPart(executor, whom);
        Object.assign(answer, unread.part);
        return unread.readThrough;
      });
      if (readThrough > 0)
        raiseFloor(database, whom, readThrough).catch((error: unknown) =>
          log.debug({ err: error }, 'raising the floor of unread messages failed'),
        );
      return answer;
    }),
  ];
}
