import { type Actor, badRequest, socialOperations, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import { lockAccount } from '../model/find-account.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';

const maxLength = 100;

export function alertWordHandlers(owner: Owner): Handlers {
  return [
    handle(socialOperations.getAlertWords, async ({ actor }) => ({
      alert_words: await readWords(owner.database, actor.userId),
    })),

    handleWrite(socialOperations.addAlertWords, async (context, params) => {
      const words = params.alert_words.map((word) => word.trim()).filter((word) => word !== '');
      if (words.some((word) => [...word].length > maxLength))
        throw badRequest(`alert_words is too long (limit: ${maxLength} characters)`);
      return context.write(async (work) => {
        const { userId } = context.actor;
        await lockAccount(work, userId);
        const added = await work.run(sql.unsafe`
          INSERT INTO users.alert_word (user_id, word)
          SELECT ${userId}, word FROM unnest(${sql.array(words, 'text')}) word ON CONFLICT DO NOTHING`);
        if (added > 0) await requireRoomForWords(work, context.actor, added);
        return answer(work, userId, added > 0);
      });
    }),

    handleWrite(socialOperations.removeAlertWords, async (context, params) =>
      context.write(async (work) => {
        const { userId } = context.actor;
        await lockAccount(work, userId);
        const words = params.alert_words.map((word) => word.trim());
        const removed = await work.run(sql.unsafe`
          DELETE FROM users.alert_word
          WHERE user_id = ${userId} AND lower(word) IN (SELECT lower(given) FROM unnest(${sql.array(words, 'text')}) given)`);
        return answer(work, userId, removed > 0);
      }),
    ),
  ];
}

/** Throws if the limit of words is exceeded, in which the words of a person and of all their bots count. */
function requireRoomForWords(work: Work, { userId, botOwnerId }: Actor, added: number): Promise<void> {
  const personId = botOwnerId ?? userId;
  const accounts = sql.fragment`SELECT ${personId}::int UNION ALL SELECT id FROM users.account WHERE bot_owner_id = ${personId} AND is_bot`;
  return requireRoom(
    work,
    totals.alertWords,
    sql.fragment`users.alert_word WHERE user_id IN (${accounts})`,
    sql.fragment`octet_length(word)`,
    added,
  );
}

/** The account is locked, so that the last announced list is the final one. */
async function answer(work: Work, userId: number, isChanged: boolean): Promise<{ alert_words: string[] }> {
  const alert_words = await readWords(work, userId);
  if (isChanged) {
    work.emit(toSelf(userId, 'alert_words', { alert_words }));
    // Messages sent from now on are matched against the new list.
    work.bump('realm');
  }
  return { alert_words };
}

const readWords = async (executor: Executor, userId: number): Promise<string[]> =>
  (
    await executor.any(
      sql.type(z.object({ word: z.string() }))`SELECT word FROM users.alert_word WHERE user_id = ${userId} ORDER BY id`,
    )
  ).map((row) => row.word);

export const alertWordsSnapshot: SnapshotPart = {
  types: ['alert_words'],
  read: async (executor, { viewer }) => ({
    alert_words: await readWords(executor, viewer.userId),
  }),
  spectators: { alert_words: [] },
};
