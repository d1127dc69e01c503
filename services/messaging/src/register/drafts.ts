import type { Executor } from '@natter/database';
import { newestDrafts, withTopicName } from '../model/draft-row.ts';
import { isOn, isSettingWaiting } from '../model/personal-settings.ts';
import { leftOut } from './archived.ts';

const synchronization = 'enable_drafts_synchronization';

/** Whether drafts will disappear without an event, because their synchronization was switched off. */
export const mayLoseDrafts = (executor: Executor, whom: { realmId: number; userId: number }): Promise<boolean> =>
  isSettingWaiting(executor, whom, synchronization);

/** `drafts` of a register; empty if the user disabled synchronization. */
export async function draftsPart(
  executor: Executor,
  whom: { realmId: number; userId: number; capabilities: Record<string, boolean> },
): Promise<{ drafts: unknown[] }> {
  if (!(await isOn(executor, whom.realmId, whom.userId, synchronization))) return { drafts: [] };
  const archived = await leftOut(executor, whom);
  const drafts = (await newestDrafts(executor, whom.realmId, whom.userId)).filter(
    ({ type, to }) => type !== 'stream' || !to.some((id) => archived.has(id)),
  );
  return { drafts: whom.capabilities.empty_topic_name ? drafts : drafts.map(withTopicName) };
}
