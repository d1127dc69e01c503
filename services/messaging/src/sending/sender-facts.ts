import { type Database, sql, together } from '@natter/database';
import { z } from 'zod';
import { headsIn } from './alert-head.ts';

const situationRow = z.object({
  policy: z.number().nullable(),
  follow: z.number().nullable(),
  unmute: z.number().nullable(),
  is_channel_muted: z.boolean(),
});
/** What decides whether a topic becomes followed or unmuted for somebody who sends to it. */
export type TopicSituation = z.infer<typeof situationRow>;

const factsRow = situationRow.extend({
  full_name: z.string().nullable(),
  email: z.string().nullable(),
  bot_owner_id: z.number().nullable(),
  muted_by: z.array(z.number()),
  alerts: z.array(z.object({ user_id: z.number(), word: z.string() })),
  linkifiers: z.array(z.object({ id: z.number(), pattern: z.string(), urlTemplate: z.string() })),
  is_new_conversation: z.boolean(),
});
export type SenderFacts = z.infer<typeof factsRow>;

interface Asked {
  realmId: number;
  senderId: number;
  content: string;
  conversation: { channelId: number; topic: string } | { key: string };
}

const lookUps = new WeakMap<Database, (asked: Asked) => Promise<SenderFacts>>();

/** All that sending looks up besides what the text names, whoever receives it. Sends that come together are one statement. */
export function senderFacts(
  database: Database,
  realmId: number,
  senderId: number,
  content: string,
  conversation: Asked['conversation'],
): Promise<SenderFacts> {
  let lookUp = lookUps.get(database);
  if (!lookUp) {
    lookUp = together((asked: Asked[]) => factsOf(database, asked));
    lookUps.set(database, lookUp);
  }
  return lookUp({ realmId, senderId, content, conversation });
}

function factsOf(database: Database, asked: readonly Asked[]): Promise<SenderFacts[]> {
  const questions = asked.map(({ realmId, senderId, content, conversation }) => ({
    realm_id: realmId,
    sender_id: senderId,
    heads: headsIn(content),
    ...('key' in conversation
      ? { conversation: conversation.key }
      : { channel_id: conversation.channelId, topic_key: conversation.topic }),
  }));
  const setting = (name: string) => sql.fragment`(SELECT s.value::int FROM messaging.personal_setting s
    WHERE s.realm_id = q.realm_id AND s.user_id = q.sender_id AND s.name = ${name})`;
  return database.any(sql.type(factsRow)`
    SELECT p.full_name, p.email, st.bot_owner_id,
      ARRAY(SELECT mp.user_id FROM messaging.mute_period mp WHERE mp.realm_id = q.realm_id AND mp.muted_id = q.sender_id AND mp.to_id IS NULL) AS muted_by,
      coalesce((SELECT json_agg(json_build_object('user_id', a.user_id, 'word', a.word)) FROM messaging.alert_word a
        WHERE a.realm_id = q.realm_id AND a.head = ANY(q.heads)), '[]') AS alerts,
      coalesce((SELECT json_agg(json_build_object('id', l.linkifier_id, 'pattern', l.pattern, 'urlTemplate', l.url_template) ORDER BY l.ordinal)
        FROM messaging.linkifier l WHERE l.realm_id = q.realm_id), '[]') AS linkifiers,
      CASE WHEN q.channel_id IS NULL
        THEN NOT EXISTS (SELECT FROM messaging.message m WHERE m.realm_id = q.realm_id AND m.conversation = q.conversation)
        ELSE NOT EXISTS (SELECT FROM messaging.message m WHERE m.realm_id = q.realm_id AND m.channel_id = q.channel_id AND lower(m.topic) = lower(q.topic_key))
      END AS is_new_conversation,
      t.policy, ${setting('automatically_follow_topics_policy')} AS follow, ${setting('automatically_unmute_topics_in_muted_streams_policy')} AS unmute,
      EXISTS (SELECT FROM messaging.muted_channel c WHERE c.realm_id = q.realm_id AND c.user_id = q.sender_id AND c.channel_id = q.channel_id) AS is_channel_muted
    FROM ROWS FROM (json_to_recordset(${JSON.stringify(questions)}::json)
      AS (realm_id int, sender_id int, heads text[], conversation text, channel_id int, topic_key text)) WITH ORDINALITY AS q
    LEFT JOIN messaging.person p ON p.realm_id = q.realm_id AND p.user_id = q.sender_id
    LEFT JOIN messaging.standing st ON st.realm_id = q.realm_id AND st.user_id = q.sender_id
    LEFT JOIN messaging.user_topic t ON t.realm_id = q.realm_id AND t.user_id = q.sender_id AND t.channel_id = q.channel_id AND t.topic_key = lower(q.topic_key)
    ORDER BY q.ordinality`) as Promise<SenderFacts[]>;
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
