import type { ChatEvent } from '@natter/client';
import type { Message } from './place.ts';
import { realmChanges } from './realm.ts';
import type { Snapshot } from './snapshot.ts';

const administrator = 200;
const guest = 600;

/** The reader's rights over messages, derived from the role and the organization's settings. */
export interface Rules {
  isAdministrator: boolean;
  isGuest: boolean;
  mayEdit: boolean;
  /** Seconds after sending; null for any time. */
  editSeconds: number | null;
  deleteSeconds: number | null;
  /** The changes of messages that everybody may see. */
  history: 'all' | 'moves' | 'none';
}

export function rulesOf(raw: Snapshot): Rules {
  const own = raw.realm_users.find(({ user_id }) => user_id === raw.user_id);
  return {
    isAdministrator: own !== undefined && own.role <= administrator,
    isGuest: own !== undefined && own.role >= guest,
    mayEdit: raw.realm_allow_message_editing,
    editSeconds: raw.realm_message_content_edit_limit_seconds,
    deleteSeconds: raw.realm_message_content_delete_limit_seconds,
    history: raw.realm_message_edit_history_visibility_policy,
  };
}

export function applyToRules(rules: Rules, event: ChatEvent, ownId: number): Rules {
  if (event.type === 'realm_user' && event.op === 'update' && event.person.user_id === ownId) {
    const { role } = event.person;
    return role === undefined ? rules : { ...rules, isAdministrator: role <= administrator, isGuest: role >= guest };
  }
  if (event.type !== 'realm') return rules;
  const changed = realmChanges(event);
  const { allow_message_editing, message_content_edit_limit_seconds, message_content_delete_limit_seconds } = changed;
  return {
    ...rules,
    mayEdit: allow_message_editing ?? rules.mayEdit,
    editSeconds:
      message_content_edit_limit_seconds === undefined ? rules.editSeconds : message_content_edit_limit_seconds,
    deleteSeconds:
      message_content_delete_limit_seconds === undefined ? rules.deleteSeconds : message_content_delete_limit_seconds,
    history: changed.message_edit_history_visibility_policy ?? rules.history,
  };
}

export const isInTime = (message: Message, seconds: number | null, now: number): boolean =>
  seconds === null || now / 1_000 - message.timestamp <= seconds;

interface Reader {
  ownId: number;
  rules: Rules;
}

/** The server edits no polls and lists of tasks. */
export const mayEdit = ({ ownId, rules }: Reader, message: Message, now: number): boolean =>
  message.sender_id === ownId &&
  rules.mayEdit &&
  message.submessages.length === 0 &&
  isInTime(message, rules.editSeconds, now);

/** Whether a message has earlier versions that the reader may see. */
export const hasHistory = ({ rules }: Pick<Reader, 'rules'>, message: Message): boolean => {
  if (rules.history === 'none') return false;
  const isEdited = rules.history === 'all' && isSet(message.last_edit_timestamp);
  return isEdited || isSet(message.last_moved_timestamp);
};

const isSet = (time: number | null | undefined): boolean => time !== undefined && time !== null;
