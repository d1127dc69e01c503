import type { Executor } from '@natter/database';
import { nameOf } from '../model/people.ts';

/** A silent mention of a user, who need not be notified of their own action. */
export const mentionNamed = (name: string | null | undefined, userId: number): string =>
  `@_**${name ?? 'Somebody'}|${userId}**`;

export const mentionOf = async (executor: Executor, realmId: number, userId: number): Promise<string> =>
  mentionNamed(await nameOf(executor, realmId, userId), userId);
