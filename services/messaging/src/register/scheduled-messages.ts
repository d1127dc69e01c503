import type { Executor } from '@natter/database';
import { pendingOf, toReminder, toScheduledMessage, withTopicName } from '../model/scheduled-row.ts';

interface Whom {
  realmId: number;
  userId: number;
  capabilities: Record<string, boolean>;
}

/** `scheduled_messages` of a register. */
export async function scheduledMessagesPart(
  executor: Executor,
  whom: Whom,
): Promise<{ scheduled_messages: unknown[] }> {
  const messages = (await pendingOf(executor, whom.realmId, whom.userId, 'message')).map(toScheduledMessage);
  return { scheduled_messages: whom.capabilities.empty_topic_name ? messages : messages.map(withTopicName) };
}

/** `reminders` of a register. */
export async function remindersPart(executor: Executor, whom: Whom): Promise<{ reminders: unknown[] }> {
  return { reminders: (await pendingOf(executor, whom.realmId, whom.userId, 'reminder')).map(toReminder) };
}
