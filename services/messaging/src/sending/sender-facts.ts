import { type Executor, sql } from '@natter/database';
import { z } from 'zod';

const factsRow = z.object({
  full_name: z.string().nullable(),
  email: z.string().nullable(),
  bot_owner_id: z.number().nullable(),
  muted_by: z.array(z.number()),
  alerts: z.array(z.object({ user_id: z.number(), word: z.string() })),
  linkifiers: z.array(z.object({ id: z.number(), pattern: z.string(), urlTemplate: z.string() })),
  is_new_conversation: z.boolean(),
});
export type SenderFacts = z.infer<typeof factsRow>;

/** All that sending looks up besides what the text names, in one statement, whoever receives it. */
export async function senderFacts(
  executor: Executor,
  realmId: number,
  senderId: number,
  content: string,
  conversation: { channelId: number; topic: string } | { key: string },
): Promise<SenderFacts> {
  const existing =
    'key' in conversation
      ? sql.fragment`m.conversation = ${conversation.key}`
      : sql.fragment`m.channel_id = ${conversation.channelId} AND lower(m.topic) = lower(${conversation.topic})`;
  return executor.one(sql.type(factsRow)`
    SELECT p.full_name, p.email, s.bot_owner_id,
      ARRAY(SELECT mp.user_id FROM messaging.mute_period mp WHERE mp.realm_id = r.id AND mp.muted_id = ${senderId} AND mp.to_id IS NULL) AS muted_by,
      coalesce((SELECT json_agg(json_build_object('user_id', a.user_id, 'word', a.word)) FROM messaging.alert_word a
        WHERE a.realm_id = r.id AND position(a.word IN lower(${content})) > 0), '[]') AS alerts,
      coalesce((SELECT json_agg(json_build_object('id', l.linkifier_id, 'pattern', l.pattern, 'urlTemplate', l.url_template) ORDER BY l.ordinal)
        FROM messaging.linkifier l WHERE l.realm_id = r.id), '[]') AS linkifiers,
      NOT EXISTS (SELECT FROM messaging.message m WHERE m.realm_id = r.id AND ${existing}) AS is_new_conversation
    FROM (SELECT ${realmId}::int AS id) r
    LEFT JOIN messaging.person p ON p.realm_id = r.id AND p.user_id = ${senderId}
    LEFT JOIN messaging.standing s ON s.realm_id = r.id AND s.user_id = ${senderId}`);
}

/** Whose alert words stand in the text as words of their own. */
export function alertedBy(alerts: SenderFacts['alerts'], content: string): number[] {
  const text = content.toLowerCase();
  const isWord = (word: string): boolean => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
      if (!/[\p{L}\p{N}_]/u.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}_]/u.test(text[at + word.length] ?? ' '))
        return true;
    return false;
  };
  return [...new Set(alerts.filter(({ word }) => isWord(word)).map(({ user_id }) => user_id))];
}
