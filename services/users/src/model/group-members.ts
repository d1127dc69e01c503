import { badRequest } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import { activeUserIds } from './nameable.ts';

/** The ids, unique and ascending; refuses unless all are active users. */
export async function checkedUsers(work: Work, ids: readonly number[]): Promise<number[]> {
  const active = new Set(await activeUserIds(work, ids));
  const wrong = ids.find((id) => !active.has(id));
  if (wrong !== undefined) throw badRequest(`Invalid user ID ${wrong}`);
  return [...active].sort((a, b) => a - b);
}

export async function insertMembers(work: Work, groupId: number, userIds: readonly number[]): Promise<void> {
  if (userIds.length === 0) return;
  await work.run(sql.unsafe`
    INSERT INTO users.group_member (group_id, user_id) SELECT ${groupId}, id FROM unnest(${sql.array([...userIds], 'int4')}) id`);
}
