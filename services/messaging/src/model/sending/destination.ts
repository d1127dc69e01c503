import { badRequest, ChatError, type IdSet, idSet, maxId, missingArgument, type RealmPolicy } from '@natter/contracts';
import type { Database } from '@natter/database';
import type { ChannelCache, PostingRules } from '../channel-cache.ts';
import { type Naming, namedPeople } from '../named-people.ts';
import { type Person, requireFewRecipients } from '../people.ts';
import { namedTopic } from '../truncated.ts';
import { notAuthorized } from './mirrored.ts';
import { postingRight, requireTopicAllowed, topicsPolicyOf } from './posting-rights.ts';
import type { Params, SendRequest } from './send-params.ts';

/** The destination of a message, and the expected versions of that decision. */
export type Destination =
  | { kind: 'channel'; channel: PostingRules; topic: string; audience: IdSet; expected: Record<string, number> }
  | { kind: 'direct'; people: Person[]; audience: IdSet; expected: Record<string, number> };

export async function findDestination(
  { database, channels, hidden }: { database: Database; channels: ChannelCache; hidden: ReadonlySet<number> },
  { actor, meta, params, fresh }: SendRequest,
  policy: RealmPolicy,
  authorId: number,
): Promise<Destination> {
  if (params.type === 'channel' || params.type === 'stream') {
    const to = singleChannel(params.to);
    if (typeof to === 'number' && Math.abs(to) > maxId) throw unknown(to);
    let channel = await channels.get(to, meta, fresh);
    let { right, expected: rightExpected } = await postingRight(database, channel, actor);
    if (right !== 'granted' && !fresh) {
      // A refusal is not committed, so its versions would not be checked: read the current channel first.
      channel = await channels.get(to, meta, true);
      ({ right, expected: rightExpected } = await postingRight(database, channel, actor));
    }
    // A private channel is answered like one that does not exist.
    if (right === 'unknown') throw unknown(to);
    if (right === 'refused') throw badRequest(`Not authorized to send to channel '${channel.name}'`);
    const given = checkedTopic(params.topic, channel, policy);
    // System bots are exempt from the topic policy; in a channel with only the empty topic they use that.
    const topic = actor.isSystemBot && channel.topics_policy === 'empty_topic_only' ? '' : given;
    if (!actor.isSystemBot) requireTopicAllowed(topic, channel, policy);
    const expected = { [`channel:${channel.channel_id}`]: channel.version, ...rightExpected };
    return { kind: 'channel', channel, topic, audience: channel.subscribers, expected };
  }
  const people = await findRecipients(database, { realmId: actor.realmId, userId: authorId, hidden }, params.to);
  if (!people.some((person) => person.user_id === actor.userId)) throw notAuthorized();
  return { kind: 'direct', people, audience: idSet(people.map((person) => person.user_id)), expected: {} };
}

/** The channel that the parameter of a channel message names. */
export function singleChannel(to: Params['to']): number | string {
  if (!Array.isArray(to)) return to;
  const [only, ...more] = to;
  if (only === undefined || more.length > 0) throw badRequest('Expected exactly one channel');
  return only;
}

/** The topic may be omitted if the channel has only the empty topic. */
function checkedTopic(topic: string | undefined, channel: PostingRules, policy: RealmPolicy): string {
  if (topic === undefined) {
    if (topicsPolicyOf(channel, policy) !== 'disable_empty_topic') return '';
    throw missingArgument('topic');
  }
  return namedTopic(topic);
}

/** The participants of a conversation: those that the request names, and the sender. */
async function findRecipients(database: Database, sender: Naming, to: Params['to']): Promise<Person[]> {
  const given: (string | number)[] = typeof to === 'string' ? to.split(',') : Array.isArray(to) ? to : [to];
  const list = given.map((item) => (typeof item === 'string' ? item.trim() : item)).filter((item) => item !== '');
  if (list.length === 0) throw badRequest('Message must have recipients');
  requireFewRecipients(list);
  const people = await namedPeople(database, sender, list);
  const gone = people.find((person) => !person.is_active && person.user_id !== sender.userId);
  if (gone) throw badRequest(`'${gone.email}' is no longer using this server.`);
  return people;
}

const unknown = (channel: number | string): ChatError =>
  typeof channel === 'number'
    ? new ChatError('STREAM_DOES_NOT_EXIST', `Channel with ID '${channel}' does not exist`, { stream_id: channel })
    : new ChatError('STREAM_DOES_NOT_EXIST', `Channel '${channel}' does not exist`, { stream: channel });
