import type { Executor } from '@natter/database';
import { nameOf } from '../model/people.ts';

/** A silent mention of a user, who need not be notified of their own action. */
export async function mentionOf(executor: Executor, realmId: number, userId: number): Promise<string> {
  return `@_**${(await nameOf(executor, realmId, userId)) ?? 'Somebody'}|${userId}**`;
}
