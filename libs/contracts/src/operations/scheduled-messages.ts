import { z } from 'zod';
import { bigId, id, integer, string, union } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, idList, json, text } from '../model/param.ts';
import { linkedFilesWeight, recipientsWeight, sendingErrors, messageType as type } from './messaging.ts';

/** A scheduled message as clients read it; `failed`: it was due and could not be sent. */
export const scheduledMessageSchema = z.object({
  scheduled_message_id: z.int(),
  type: z.enum(['private', 'stream']).describe('Whether it is a direct message or a channel message.'),
  to: z.union([z.int(), z.array(z.int())]),
  topic: z.string().optional(),
  content: z.string(),
  rendered_content: z.string(),
  scheduled_delivery_timestamp: z.int(),
  failed: z.boolean(),
});
export type ScheduledMessage = z.infer<typeof scheduledMessageSchema>;

export const reminderSchema = z.object({
  reminder_id: z.int(),
  type: z.literal('private').describe('A reminder is a direct message.'),
  to: z.array(z.int()).describe('The ID of the user alone.'),
  content: z.string(),
  rendered_content: z.string(),
  scheduled_delivery_timestamp: z.int(),
  failed: z.boolean(),
  reminder_target_message_id: z.int(),
});
export type Reminder = z.infer<typeof reminderSchema>;

const to = union([bigId, idList(1_000)]);
const timestamp = integer(0, 253_402_300_799);

export const scheduledMessageOperations = {
  getScheduledMessages: operation({
    name: 'get-scheduled-messages',
    service: 'messaging',
    http: { method: 'GET', path: '/scheduled_messages' },
    summary: "The caller's scheduled messages that were not sent, by time of delivery.",
    result: z.object({ scheduled_messages: z.array(scheduledMessageSchema) }),
  }),
  createScheduledMessage: operation({
    name: 'create-scheduled-message',
    service: 'messaging',
    http: { method: 'POST', path: '/scheduled_messages' },
    summary: 'Schedule a message.',
    weigh: ({ type, to, content }) => recipientsWeight(type, to) + linkedFilesWeight(content),
    params: {
      type: text(type),
      to: json(to),
      content: text(string(40_000)),
      topic: text(string(1_000).optional()),
      scheduled_delivery_timestamp: json(timestamp),
      read_by_sender: json(bool.optional()),
    },
    result: z.object({ scheduled_message_id: z.int() }),
    errors: sendingErrors,
    events: ['scheduled_messages'],
  }),
  editScheduledMessage: operation({
    name: 'edit-scheduled-message',
    service: 'messaging',
    http: { method: 'PATCH', path: '/scheduled_messages/{scheduled_message_id}' },
    summary: 'Change a scheduled message that was not sent; a failed one is tried again.',
    // Any change emits an event with the whole message.
    weight: 2,
    weigh: ({ type, to, content }) => recipientsWeight(type, to) + linkedFilesWeight(content),
    params: {
      scheduled_message_id: json(id),
      type: text(type.optional()),
      to: json(to.optional()),
      content: text(string(40_000).optional()),
      topic: text(string(1_000).optional()),
      scheduled_delivery_timestamp: json(timestamp.optional()),
    },
    errors: sendingErrors,
    events: ['scheduled_messages'],
  }),
  deleteScheduledMessage: operation({
    name: 'delete-scheduled-message',
    service: 'messaging',
    http: { method: 'DELETE', path: '/scheduled_messages/{scheduled_message_id}' },
    summary: 'Delete a scheduled message.',
    params: { scheduled_message_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['scheduled_messages'],
  }),
  getReminders: operation({
    name: 'get-reminders',
    service: 'messaging',
    http: { method: 'GET', path: '/reminders' },
    summary: "The caller's reminders that are still to come, by time.",
    result: z.object({ reminders: z.array(reminderSchema) }),
  }),
  createReminder: operation({
    name: 'create-reminder',
    service: 'messaging',
    http: { method: 'POST', path: '/reminders' },
    summary: 'Be reminded of a message later.',
    weigh: ({ note }) => linkedFilesWeight(note),
    params: {
      message_id: json(bigId),
      scheduled_delivery_timestamp: json(timestamp),
      note: text(string(10_000).optional()),
    },
    result: z.object({ reminder_id: z.int() }),
    errors: ['BAD_REQUEST'],
    events: ['reminders'],
  }),
  deleteReminder: operation({
    name: 'delete-reminder',
    service: 'messaging',
    http: { method: 'DELETE', path: '/reminders/{reminder_id}' },
    summary: 'Delete a reminder.',
    params: { reminder_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['reminders'],
  }),
};
