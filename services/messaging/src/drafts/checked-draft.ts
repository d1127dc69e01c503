import { type Actor, badRequest, type RequestMeta, topicOfName, type WrittenDraft } from '@natter/contracts';
import type { Executor } from '@natter/database';
import type { ChannelAccess } from '../model/channel-access.ts';
import { checkedContent } from '../model/checked-content.ts';
import { namedPeople } from '../model/named-people.ts';
import { truncatedTopic } from '../model/truncated.ts';

export interface CheckedDraft {
  type: 'private' | 'stream' | '';
  to: number[];
  topic: string;
  content: string;
  /** Time of the last edit, in seconds since 1970; undefined for the present time. */
  editedAt: number | undefined;
}

export interface DraftSources {
  database: Executor;
  access: ChannelAccess;
  /** Users whom the actor may not see. */
  hidden: ReadonlySet<number>;
}

/** Validates a draft. For a draft without a type only the content is checked; one without recipients has no type. */
export async function checkDraft(
  { database, access, hidden }: DraftSources,
  actor: Actor,
  meta: RequestMeta,
  draft: WrittenDraft,
): Promise<CheckedDraft> {
  const content = checkedContent(draft.content);
  if (content.includes('\0')) throw badRequest('Message must not contain null bytes');
  if (draft.timestamp !== undefined && draft.timestamp < 0) throw badRequest('Timestamp must not be negative.');
  const common = { content, editedAt: draft.timestamp };
  if (draft.type === 'stream' || draft.type === 'channel') {
    const [channelId, ...more] = draft.to;
    if (channelId === undefined || more.length > 0)
      throw badRequest('Must specify exactly 1 channel ID for channel messages');
    await access.readable(actor, meta, channelId);
    return { ...common, type: 'stream', to: [channelId], topic: checkedTopic(draft.topic) };
  }
  if (draft.type === '' || draft.to.length === 0) return { ...common, type: '', to: [], topic: '' };
  const to = [...new Set(draft.to)].sort((a, b) => a - b);
  await namedPeople(database, { realmId: actor.realmId, userId: actor.userId, hidden }, to);
  return { ...common, type: 'private', to, topic: '' };
}

function checkedTopic(given: string): string {
  if (given.includes('\0')) throw badRequest('Topic must not contain null bytes');
  return topicOfName(truncatedTopic(given.trim()));
}
