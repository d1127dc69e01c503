import type { Executor } from '@natter/database';
import { isOn } from '../personal-settings.ts';
import { newestDrafts, withTopicName } from './draft-row.ts';

/** `drafts` of a register; none while their owner does not synchronise them. */
export async function draftsPart(
  executor: Executor,
  whom: { realmId: number; userId: number; capabilities: Record<string, boolean> },
): Promise<{ drafts: unknown[] }> {
  if (!(await isOn(executor, whom.realmId, whom.userId, 'enable_drafts_synchronization'))) return { drafts: [] };
  const drafts = await newestDrafts(executor, whom.realmId, whom.userId);
  return { drafts: whom.capabilities.empty_topic_name ? drafts : drafts.map(withTopicName) };
}
