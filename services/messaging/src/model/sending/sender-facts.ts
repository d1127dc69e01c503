import type { Actor, RealmPolicy } from '@natter/contracts';
import { createBatcher, type Database, type Fragment, sql } from '@natter/database';
import { z } from 'zod';
import type { PersonalSetting } from '../personal-settings.ts';
import { headsIn } from './alert-head.ts';
import { alertedIn, sharedAlerts } from './alerts.ts';

/** The data that decides whether a topic becomes followed or unmuted for a user who sends to it or takes part in it. */
export const situationRow = z.object({
  policy: z.number().nullable(),
  follow: z.number().nullable(),
  unmute: z.number().nullable(),
  is_channel_muted: z.boolean(),
});
export type TopicSituation = z.infer<typeof situationRow>;

/** The columns of a `situationRow` in a query that names the user's preference for the topic `t`. */
export function situationColumns(realmId: number, userId: number, channelId: Fragment): Fragment {
  const setting = (name: PersonalSetting) => sql.fragment`(SELECT s.value::int FROM messaging.personal_setting s
    WHERE s.realm_id = ${realmId} AND s.user_id = ${userId} AND s.name = ${name})`;
  return sql.fragment`t.policy, ${setting('automatically_follow_topics_policy')} AS follow,
    ${setting('automatically_unmute_topics_in_muted_streams_policy')} AS unmute,
    EXISTS (SELECT FROM messaging.muted_channel c
      WHERE c.realm_id = ${realmId} AND c.user_id = ${userId} AND c.channel_id = ${channelId}) AS is_channel_muted`;
}

const factsRow = situationRow.extend({
  full_name: z.string().nullable(),
  email: z.string().nullable(),
  avatar_url: z.string().nullable(),
  bot_owner_id: z.number().nullable(),
  muted_by: z.array(z.number()),
  /** The event by which `muted_by` last changed; null if none changed it. */
  mutes_number: z.number().nullable(),
  alerts: z.array(z.object({ user_id: z.number(), word: z.string() })),
  linkifiers: z.array(z.object({ id: z.number(), pattern: z.string(), urlTemplate: z.string() })),
  is_new_conversation: z.boolean(),
});
type FactsRow = z.infer<typeof factsRow>;
export interface SenderFacts extends Omit<FactsRow, 'alerts'> {
  /** Users whose alert words occur in the text, whether they receive it or not. */
  alertedIds: readonly number[];
}

/** The facts about its sender that a decision about a message uses. */
export interface Sender {
  /** The rights of the actor limit the message. */
  actor: Actor;
  /** The user whom the message names as its sender: the actor, except in a mirrored message. */
  author: Pick<Actor, 'userId'>;
  policy: RealmPolicy;
  /** Facts about the author. */
  facts: SenderFacts;
  /** Users whom the reader of a reminder, or else the actor, may not see. */
  hidden: ReadonlySet<number>;
}

interface Asked {
  realmId: number;
  senderId: number;
  content: string;
  conversation: { channelId: number; topic: string } | { key: string };
}

const lookUps = new WeakMap<Database, (asked: Asked) => Promise<FactsRow>>();

/**
 * All look-ups of a send apart from the objects that its text names, independent of the receivers. Concurrent sends
 * share one statement.
 */
export async function senderFacts(database: Database, asked: Asked): Promise<SenderFacts> {
  let lookUp = lookUps.get(database);
  if (!lookUp) {
    lookUp = createBatcher((all: Asked[]) => factsOf(database, all));
    lookUps.set(database, lookUp);
  }
  const { alerts, ...facts } = await lookUp(asked);
  return { ...facts, alertedIds: await alertedIn(database, asked, alerts) };
}

function factsOf(database: Database, asked: readonly Asked[]): Promise<readonly FactsRow[]> {
  const questions = asked.map(({ realmId, senderId, content, conversation }) => ({
    realm_id: realmId,
    sender_id: senderId,
    heads: headsIn(content),
    max_alerts: sharedAlerts,
    ...('key' in conversation
      ? { conversation: conversation.key }
      : { channel_id: conversation.channelId, topic: conversation.topic }),
  }));
  return database.any(sql.type(factsRow)`
    SELECT full_name, email, avatar_url, bot_owner_id, muted_by, mutes_number, alerts, linkifiers, is_new_conversation, policy, follow, unmute, is_channel_muted
    FROM messaging.facts_of_senders(${JSON.stringify(questions)}::json) ORDER BY ordinal`);
}
