import { z } from 'zod';
import { eventsOf } from './declare.ts';
import { int, ints } from './shapes.ts';

const none = z.strictObject({});
const every = eventsOf('every');
const users = eventsOf('users');
const messaging = eventsOf('messaging');

/** Events that only services and gateways receive. */
export const internalEvents = {
  tick: every('Nothing happened. Ephemeral events after it are numbered from it.', {
    audience: 'nobody',
    isPublic: false,
    body: none,
  }),
  credentials_changed: users('Credentials of a user ended, or are new. Gateways authenticate the user again.', {
    audience: 'nobody',
    isPublic: false,
    body: z.strictObject({ user_id: int }),
  }),
  acquainted: messaging('People have a direct conversation, in a realm that limits its guests.', {
    audience: 'nobody',
    isPublic: false,
    body: none,
    note: z.strictObject({ user_ids: ints }),
  }),
  attachments_referenced: messaging('A message was sent that refers to files.', {
    audience: 'nobody',
    isPublic: false,
    body: none,
    note: z.strictObject({ attachment_ids: ints }),
  }),
  channel_begins: messaging('Another message is now the first of a channel, because messages were moved or deleted.', {
    audience: 'nobody',
    isPublic: false,
    body: none,
    // Messages that were sent after the event numbered `after` may be missing. Absent in events of earlier releases.
    note: z.strictObject({ channel_id: int, first_message_id: int.nullable(), after: int.optional() }),
  }),
  mutes_ended: messaging('The lists of muted topics of these users have changed in a register.', {
    audience: 'nobody',
    isPublic: false,
    body: none,
    note: z.strictObject({ user_ids: ints }),
  }),
};
