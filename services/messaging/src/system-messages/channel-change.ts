import type { GroupSetting, LogEvent } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { groupMention, placeLink, strong, userMention } from '../model/names-in-notices.ts';
import { quoteBlock } from '../model/quote-block.ts';

type Change = LogEvent<'stream/update'>['body'];
type Note = NonNullable<LogEvent<'stream/update'>['note']>;

/** The text of the notice about a change of a channel; undefined for changes that need none. `who` made it. */
export async function changeText(
  executor: Executor,
  realmId: number,
  { body, note, who }: { body: Change; note: Note; who: string },
): Promise<string | undefined> {
  switch (body.property) {
    case 'name':
      return `${who} renamed channel ${strong(body.name)} to ${strong(body.value)}.`;
    case 'description': {
      const before = typeof note.before === 'string' ? note.before : '';
      const [old, new_] = [before, body.value].map((text) => (text === '' ? '*No description.*' : quoteBlock(text)));
      return `${who} changed the description for this channel.\n\n* **Old description:**\n${old}\n* **New description:**\n${new_}`;
    }
    case 'invite_only':
      return `${who} changed the access permissions for this channel to **${kindOf({ ...body, invite_only: body.value })}**.`;
    case 'is_archived':
      return `Channel ${placeLink(body.name)} has been ${body.value ? 'archived' : 'unarchived'}.`;
    case 'can_send_message_group': {
      const named = (value: unknown): Promise<string> => holdersText(executor, realmId, value as GroupSetting);
      const [old, new_] = [await named(note.before), await named(body.value)];
      return `${who} changed the posting permissions for this channel:\n\n* **Old**: ${old}\n* **New**: ${new_}`;
    }
    case 'message_retention_days':
      return retentionText(who, [note.before, body.value], note.realm_retention_days);
    case 'topics_policy': {
      const [old, new_] = [note.before, body.value].map((value) => `**${topicsPolicies[String(value)]}**`);
      return `${who} changed the "Allow posting to the *general chat* topic?" setting from ${old} to ${new_}.`;
    }
    default:
      return undefined;
  }
}

export function kindOf(channel: {
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
}): string {
  if (channel.is_web_public) return 'Web-public';
  if (!channel.invite_only) return 'Public';
  return channel.history_public_to_subscribers ? 'Private, shared history' : 'Private, protected history';
}

const topicsPolicies: Record<string, string> = {
  inherit: 'Automatic',
  allow_empty_topic: '*general chat* topic allowed',
  disable_empty_topic: 'No *general chat* topic',
  empty_topic_only: 'Only *general chat* topic allowed',
};

/** `null` stands for the retention of the realm. */
function retentionText(who: string, values: unknown[], realmDays: number | undefined): string | undefined {
  const [before, after] = values.map((value) => (typeof value === 'number' ? value : realmDays));
  if (before === undefined || after === undefined || before === after) return undefined;
  const period = (days: number): string => (days < 0 ? 'Forever' : `${days} days`);
  const summary =
    after < 0
      ? 'Messages in this channel will now be retained forever.'
      : `Messages in this channel will now be automatically deleted ${after} days after they are sent.`;
  return `${who} has changed the message retention period for this channel:\n\n* **Old retention period**: ${period(before)}\n* **New retention period**: ${period(after)}\n\n${summary}`;
}

/** A permission may name thousands; the names of more than these would not fit into a message. */
const maxNames = 30;

const nameRow = z.object({ id: z.number(), name: z.string() });

/** Silent mentions of the groups and people that a permission names. */
async function holdersText(executor: Executor, realmId: number, value: GroupSetting): Promise<string> {
  const [groupIds, userIds] =
    typeof value === 'number' ? [[value], []] : [value.direct_subgroups, value.direct_members];
  const groups = await executor.any(sql.type(nameRow)`
    SELECT group_id AS id, name FROM messaging.user_group
    WHERE realm_id = ${realmId} AND group_id = ANY(${sql.array([...groupIds], 'int4')}) ORDER BY group_id`);
  const people = await executor.any(sql.type(nameRow)`
    SELECT user_id AS id, full_name AS name FROM messaging.person
    WHERE realm_id = ${realmId} AND user_id = ANY(${sql.array([...userIds], 'int4')}) ORDER BY user_id`);
  const names = [
    ...groups.map(({ name }) => groupMention(name)),
    ...people.map(({ name, id }) => userMention(name, id)),
  ];
  const more = names.length > maxNames ? [`${names.length - maxNames} more`] : [];
  return names.length === 0 ? 'Nobody' : [...names.slice(0, maxNames), ...more].join(', ');
}
