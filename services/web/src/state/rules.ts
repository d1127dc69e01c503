import type { ChatEvent } from '@natter/client';
import type { Message } from './place.ts';

const administrator = 200;

/** These rules decide whether the reader may change a message. The server checks them again. */
export interface Rules {
  isAdministrator: boolean;
  mayEdit: boolean;
  /** Seconds after sending; null for any time. */
  editSeconds: number | null;
  deleteSeconds: number | null;
}

interface RawRules {
  user_id: number;
  realm_users: { user_id: number; role: number }[];
  realm_allow_message_editing: boolean;
  realm_message_content_edit_limit_seconds: number | null;
  realm_message_content_delete_limit_seconds: number | null;
}

export function rulesOf(answer: object): Rules {
  const raw = answer as RawRules;
  const own = raw.realm_users.find(({ user_id }) => user_id === raw.user_id);
  return {
    isAdministrator: own !== undefined && own.role <= administrator,
    mayEdit: raw.realm_allow_message_editing,
    editSeconds: raw.realm_message_content_edit_limit_seconds,
    deleteSeconds: raw.realm_message_content_delete_limit_seconds,
  };
}

interface Changed {
  allow_message_editing?: boolean;
  message_content_edit_limit_seconds?: number | null;
  message_content_delete_limit_seconds?: number | null;
}

export function applyToRules(rules: Rules, event: ChatEvent, ownId: number): Rules {
  if (event.type === 'realm_user' && event.op === 'update' && event.person.user_id === ownId) {
    const { role } = event.person as { role?: number };
    return role === undefined ? rules : { ...rules, isAdministrator: role <= administrator };
  }
  if (event.type !== 'realm' || event.op === 'deactivated') return rules;
  const changed: Changed =
    event.op === 'update_dict' ? (event.data as Changed) : { [event.property]: event.value as never };
  const { allow_message_editing, message_content_edit_limit_seconds, message_content_delete_limit_seconds } = changed;
  return {
    ...rules,
    mayEdit: allow_message_editing ?? rules.mayEdit,
    editSeconds:
      message_content_edit_limit_seconds === undefined ? rules.editSeconds : message_content_edit_limit_seconds,
    deleteSeconds:
      message_content_delete_limit_seconds === undefined ? rules.deleteSeconds : message_content_delete_limit_seconds,
  };
}

const isWithin = (message: Message, seconds: number | null, now: number): boolean =>
  seconds === null || now / 1_000 - message.timestamp <= seconds;

interface Reader {
  ownId: number;
  rules: Rules;
}

export const mayEdit = ({ ownId, rules }: Reader, message: Message, now: number): boolean =>
  message.sender_id === ownId && rules.mayEdit && isWithin(message, rules.editSeconds, now);

export const mayDelete = ({ ownId, rules }: Reader, message: Message, now: number): boolean =>
  rules.isAdministrator || (message.sender_id === ownId && isWithin(message, rules.deleteSeconds, now));
