import type { Executor } from '@natter/database';
import { type NoticeText, userMention } from '../model/notice-text.ts';
import { nameOf } from '../model/people.ts';

/** A silent mention of a user, who need not be notified of their own action. */
export const mentionNamed = (name: string | null | undefined, userId: number): NoticeText =>
  userMention(name ?? 'Somebody', userId);

export const mentionOf = async (executor: Executor, realmId: number, userId: number): Promise<NoticeText> =>
  mentionNamed(await nameOf(executor, realmId, userId), userId);
