import { eventQueueOperations } from '@natter/contracts';
import { type Executor, inSnapshot } from '@natter/database';
import { type Handlers, handle, type Logger, type Owner } from '@natter/service-kit';
import { draftsPart } from './drafts/drafts-part.ts';
import { raiseFloor, recentConversationsPart, starredPart, unreadPart } from './flags/flags-part.ts';
import { newestReceived } from './reading/newest-message.ts';
import { remindersPart, scheduledMessagesPart } from './scheduling/scheduled-parts.ts';
import { mutedTopicsPart, userTopicsPart } from './topics/user-topics.ts';

export interface SnapshotFor {
  realmId: number;
  userId: number;
  capabilities: Record<string, boolean>;
}

/** What a register says under a fetch type; each reads tables of this service alone. */
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

/** Needs both types, for clients keep it with both. */
const unreadTypes = ['message', 'update_message_flags'];

export function snapshotHandlers({ database }: Owner, log: Logger): Handlers {
  return [
    handle(eventQueueOperations.snapshotMessaging, async ({ meta }, { snapshot, types, user_id, capabilities }) => {
      // Whoever asks for both knows that the preferences say all that the mutes say.
      const isSuperseded = (type: string): boolean => type === 'muted_topics' && types?.includes('user_topic') === true;
      const wanted = Object.entries(parts).filter(
        ([type]) => (types === null || types.includes(type)) && !isSuperseded(type),
      );
      const whom = { realmId: meta.realmId, userId: user_id, capabilities };
      const wantsUnread = types === null || unreadTypes.every((type) => types.includes(type));
      if (wanted.length === 0 && !wantsUnread) return {};
      const answer: Record<string, unknown> = {};
      const readThrough = await inSnapshot(database, snapshot, async (executor) => {
        for (const [, part] of wanted) Object.assign(answer, await part(executor, whom));
        if (!wantsUnread) return 0;
        const unread = await unreadPart(executor, whom);
        Object.assign(answer, unread.part);
        return unread.readThrough;
      });
      if (readThrough > 0)
        raiseFloor(database, whom, readThrough).catch((error: unknown) =>
          log.debug({ err: error }, 'floor of unread messages not raised'),
        );
      return answer;
    }),
  ];
}
