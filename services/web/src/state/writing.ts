import type { ChatEvent } from '@natter/client';
import { realmChanges } from './realm.ts';
import {
  type Draft,
  draftOf,
  groupOf,
  groupPermissions,
  policiesOf,
  reminderOf,
  type Scheduled,
  scheduledOf,
  type TopicsPolicy,
  type Writing,
} from './writing-snapshot.ts';

const withoutChannels = (
  { topicsPolicies }: Writing,
  gone: readonly { stream_id: number }[],
): Writing['topicsPolicies'] => {
  const ids = new Set(gone.map(({ stream_id }) => stream_id));
  return new Map([...topicsPolicies].filter(([id]) => !ids.has(id)));
};

const withAll = <T extends { id: number }>(map: ReadonlyMap<number, T>, added: readonly T[]): ReadonlyMap<number, T> =>
  new Map([...map, ...added.map((one) => [one.id, one] as const)]);
function without<T>(map: ReadonlyMap<number, T>, id: number): ReadonlyMap<number, T> {
  const left = new Map(map);
  left.delete(id);
  return left;
}

export const addDraft = (writing: Writing, draft: Draft): Writing => ({
  ...writing,
  drafts: withAll(writing.drafts, [draft]),
});
export const removeDraft = (writing: Writing, id: number): Writing => ({
  ...writing,
  drafts: without(writing.drafts, id),
  echoes: without(writing.echoes, id),
});

/** This page sends a text of a draft: an event will follow. */
export const expectEcho = (writing: Writing, id: number, text: string): Writing => ({
  ...writing,
  echoes: new Map(writing.echoes).set(id, [...(writing.echoes.get(id) ?? []), text.trim()]),
});

/** The server has a text that this page sent. Its event may have arrived before. */
export function savedDraft(writing: Writing, draft: Draft): Writing {
  const isNew = !writing.drafts.has(draft.id);
  return addDraft(isNew ? expectEcho(writing, draft.id, draft.content) : writing, draft);
}

/** Ignores the event of a text that this page has replaced since: the event of the newer text follows. */
function arrivedDraft(writing: Writing, draft: Draft): Writing {
  const expected = writing.echoes.get(draft.id) ?? [];
  const at = expected.indexOf(draft.content.trim());
  if (at < 0) return addDraft(writing, draft);
  const left = expected.slice(at + 1);
  if (left.length > 0) return { ...writing, echoes: new Map(writing.echoes).set(draft.id, left) };
  return addDraft({ ...writing, echoes: without(writing.echoes, draft.id) }, draft);
}

type EventOf<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

export function applyToWriting(writing: Writing, event: ChatEvent): Writing {
  switch (event.type) {
    case 'drafts':
      if (event.op === 'remove') return removeDraft(writing, event.draft_id);
      return (event.op === 'add' ? event.drafts : [event.draft]).reduce(
        (next, one) => arrivedDraft(next, draftOf(one, writing.ownId)),
        writing,
      );
    case 'scheduled_messages':
      return { ...writing, scheduled: withScheduled(writing, event) };
    case 'reminders':
      return {
        ...writing,
        reminders:
          event.op === 'remove'
            ? without(writing.reminders, event.reminder_id)
            : withAll(writing.reminders, event.reminders.map(reminderOf)),
      };
    case 'user_group':
      return { ...writing, groups: withGroup(writing.groups, event) };
    case 'user_settings':
      return { ...writing, settings: { ...writing.settings, [event.property]: event.value } };
    case 'subscription':
      if (event.op === 'remove') return { ...writing, topicsPolicies: withoutChannels(writing, event.subscriptions) };
      if (event.op !== 'add') return writing;
      return {
        ...writing,
        topicsPolicies: new Map([...writing.topicsPolicies, ...policiesOf(event.subscriptions)]),
      };
    case 'stream': {
      if (event.op === 'delete')
        return {
          ...writing,
          topicsPolicies: withoutChannels(
            writing,
            event.stream_ids.map((stream_id) => ({ stream_id })),
          ),
        };
      if (event.op !== 'update' || event.property !== 'topics_policy') return writing;
      const changed = [event.stream_id, event.value] as const;
      return writing.topicsPolicies.has(event.stream_id)
        ? { ...writing, topicsPolicies: new Map([...writing.topicsPolicies, changed]) }
        : writing;
    }
    case 'realm':
      return withRealm(writing, event);
    default:
      return writing;
  }
}

function withScheduled(
  { scheduled, ownId }: Writing,
  event: EventOf<'scheduled_messages'>,
): ReadonlyMap<number, Scheduled> {
  if (event.op === 'remove') return without(scheduled, event.scheduled_message_id);
  const changed = event.op === 'add' ? event.scheduled_messages : [event.scheduled_message];
  return withAll(
    scheduled,
    changed.map((one) => scheduledOf(one, ownId)),
  );
}

function withGroup(groups: Writing['groups'], event: EventOf<'user_group'>): Writing['groups'] {
  if (event.op === 'add') return withAll(groups, [groupOf(event.group)]);
  const id = event.group_id;
  if (event.op === 'remove') return without(groups, id);
  const group = groups.get(id);
  if (!group) return groups;
  const next = { ...group };
  if (event.op === 'update') {
    const { name = group.name, description = group.description } = event.data;
    const changed = groupPermissions.flatMap((one) => {
      const value = event.data[one];
      return value === undefined ? [] : [[one, value] as const];
    });
    Object.assign(next, { name, description, permissions: { ...group.permissions, ...Object.fromEntries(changed) } });
  }
  if (event.op === 'add_members') next.members = new Set([...group.members, ...event.user_ids]);
  else if (event.op === 'remove_members')
    next.members = new Set([...group.members].filter((one) => !event.user_ids.includes(one)));
  else if (event.op === 'add_subgroups') next.subgroups = [...group.subgroups, ...event.direct_subgroup_ids];
  else if (event.op === 'remove_subgroups')
    next.subgroups = group.subgroups.filter((one) => !event.direct_subgroup_ids.includes(one));
  return withAll(groups, [next]);
}

function withRealm(writing: Writing, event: EventOf<'realm'>): Writing {
  return { ...writing, topicsPolicy: realmChanges(event).topics_policy ?? writing.topicsPolicy };
}

/** Whether topics of a channel may be empty, and may have names. */
export function topicRule(
  { topicsPolicy, topicsPolicies }: Writing,
  channelId: number,
): Exclude<TopicsPolicy, 'inherit'> {
  const own = topicsPolicies.get(channelId) ?? 'inherit';
  const policy = own === 'inherit' ? topicsPolicy : own;
  return policy === 'inherit' ? 'allow_empty_topic' : policy;
}
