import { type GroupSetting, groupSettingSchema, type LogEvent } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import {
  groupMention,
  joined,
  type NoticeText,
  notice,
  placeLink,
  quoteBlock,
  strong,
  userMention,
} from '../model/notice-text.ts';

type Change = LogEvent<'stream/update'>['body'];
type Note = NonNullable<LogEvent<'stream/update'>['note']>;

/** The text of the notice about a change of a channel; undefined for changes that need none. `who` made it. */
export async function changeText(
  executor: Executor,
  realmId: number,
  { body, note, who }: { body: Change; note: Note; who: NoticeText },
): Promise<NoticeText | undefined> {
  switch (body.property) {
    case 'name':
      return notice`${who} renamed channel ${strong(body.name)} to ${strong(body.value)}.`;
    case 'description': {
      const before = typeof note.before === 'string' ? note.before : '';
      const [old, new_] = [quotedDescription(before), quotedDescription(body.value)];
      return notice`${who} changed the description for this channel.\n\n* **Old description:**\n${old}\n* **New description:**\n${new_}`;
    }
    case 'invite_only':
      return notice`${who} changed the access permissions for this channel to **${kindOf({ ...body, invite_only: body.value })}**.`;
    case 'is_archived':
      return notice`Channel ${placeLink({ channel_id: body.stream_id, name: body.name })} has been ${body.value ? notice`archived` : notice`unarchived`}.`;
    case 'can_send_message_group': {
      const named = (value: GroupSetting): Promise<NoticeText> => holdersText(executor, realmId, value);
      const [old, new_] = [await named(groupSettingSchema.parse(note.before)), await named(body.value)];
      return notice`${who} changed the posting permissions for this channel:\n\n* **Old**: ${old}\n* **New**: ${new_}`;
    }
    case 'message_retention_days':
      return retentionText(who, [note.before, body.value], note.realm_retention_days);
    case 'topics_policy': {
      const named = (value: unknown): NoticeText => notice`**${topicsPolicies[String(value)] ?? notice``}**`;
      const [old, new_] = [named(note.before), named(body.value)];
      return notice`${who} changed the "Allow posting to the *general chat* topic?" setting from ${old} to ${new_}.`;
    }
    default:
      return undefined;
  }
}

export const quotedDescription = (text: string): NoticeText =>
  text === '' ? notice`*No description.*` : quoteBlock(text);

export function kindOf(channel: {
  invite_only: boolean;
  is_web_public: boolean;
  history_public_to_subscribers: boolean;
}): NoticeText {
  if (channel.is_web_public) return notice`Web-public`;
  if (!channel.invite_only) return notice`Public`;
  return channel.history_public_to_subscribers ? notice`Private, shared history` : notice`Private, protected history`;
}

const topicsPolicies: Record<string, NoticeText> = {
  inherit: notice`Automatic`,
  allow_empty_topic: notice`*general chat* topic allowed`,
  disable_empty_topic: notice`No *general chat* topic`,
  empty_topic_only: notice`Only *general chat* topic allowed`,
};

/** `null` stands for the retention of the realm. */
function retentionText(who: NoticeText, values: unknown[], realmDays: number | undefined): NoticeText | undefined {
  const [before, after] = values.map((value) => (typeof value === 'number' ? value : realmDays));
  if (before === undefined || after === undefined || before === after) return undefined;
  const period = (days: number): NoticeText => (days < 0 ? notice`Forever` : notice`${days} days`);
  const summary =
    after < 0
      ? notice`Messages in this channel will now be retained forever.`
      : notice`Messages in this channel will now be automatically deleted ${after} days after they are sent.`;
  return notice`${who} has changed the message retention period for this channel:\n\n* **Old retention period**: ${period(before)}\n* **New retention period**: ${period(after)}\n\n${summary}`;
}

/** A permission may name thousands; the names of more than these would not fit into a message. */
const maxNames = 30;

const nameRow = z.object({ id: z.number(), name: z.string() });

/** Silent mentions of the groups and people that a permission names. */
async function holdersText(executor: Executor, realmId: number, value: GroupSetting): Promise<NoticeText> {
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
  const more = names.length > maxNames ? [notice`${names.length - maxNames} more`] : [];
  return names.length === 0 ? notice`Nobody` : joined([...names.slice(0, maxNames), ...more], ', ');
}
