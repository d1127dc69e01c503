import { z } from 'zod';
import { navigationViewSchema, savedSnippetSchema } from '../operations/collections.ts';
import { draftSchema } from '../operations/drafts.ts';
import { reminderSchema, scheduledMessageSchema } from '../operations/scheduled-messages.ts';
import { mutedUserSchema } from '../operations/social.ts';
import { eventsOf } from './declare.ts';
import { bool, int, isNotEmpty, str } from './shapes.ts';

const draft = draftSchema.strict();
const saved_snippet = savedSnippetSchema.strict();
const scheduled_message = scheduledMessageSchema.strict();
const device = { device_id: int };

const users = eventsOf('users');
const messaging = eventsOf('messaging');
const audience = 'users' as const;

/** Events about data that only one user sees. */
export const ownEvents = {
  muted_users: users('The people whom the receiver muted, all of them.', {
    audience,
    body: z.strictObject({ muted_users: z.array(mutedUserSchema.strict()) }),
  }),
  alert_words: users('The alert words of the receiver, all of them.', {
    audience,
    body: z.strictObject({ alert_words: z.array(str) }),
  }),
  push_device: users('The registration of a device for push notifications changed.', {
    audience,
    body: z.strictObject({
      push_account_id: int,
      status: z.enum(['active', 'pending', 'failed']).describe('The state of the registration.'),
      error_code: str.nullable().optional(),
    }),
  }),
  'device/add': users('A device is new.', { audience, body: z.strictObject(device) }),
  'device/remove': users('A device is gone.', { audience, body: z.strictObject(device) }),
  'device/update': users('A device changed.', {
    audience,
    body: z.strictObject({
      ...device,
      push_key_id: int.nullable().optional(),
      push_token_id: str.nullable().optional(),
      pending_push_token_id: str.nullable().optional(),
      push_token_last_updated_timestamp: int.nullable().optional(),
      push_registration_error_code: str.nullable().optional(),
    }),
  }),
  'drafts/add': messaging('Drafts are new.', { audience, body: z.strictObject({ drafts: z.array(draft) }) }),
  'drafts/update': messaging('A draft changed.', { audience, body: z.strictObject({ draft }) }),
  'drafts/remove': messaging('A draft is gone.', { audience, body: z.strictObject({ draft_id: int }) }),
  'saved_snippets/add': users('A saved snippet is new.', { audience, body: z.strictObject({ saved_snippet }) }),
  'saved_snippets/update': users('A saved snippet changed.', { audience, body: z.strictObject({ saved_snippet }) }),
  'saved_snippets/remove': users('A saved snippet is gone.', {
    audience,
    body: z.strictObject({ saved_snippet_id: int }),
  }),
  'scheduled_messages/add': messaging('Messages were scheduled.', {
    audience,
    body: z.strictObject({ scheduled_messages: z.array(scheduled_message) }),
  }),
  'scheduled_messages/update': messaging('A scheduled message changed.', {
    audience,
    body: z.strictObject({ scheduled_message }),
  }),
  'scheduled_messages/remove': messaging('A scheduled message was sent or deleted.', {
    audience,
    body: z.strictObject({ scheduled_message_id: int }),
  }),
  'reminders/add': messaging('A reminder is new.', {
    audience,
    body: z.strictObject({ reminders: z.array(reminderSchema.strict()) }),
  }),
  'reminders/remove': messaging('A reminder was sent or deleted.', {
    audience,
    body: z.strictObject({ reminder_id: int }),
  }),
  'navigation_view/add': users('A navigation view is new.', {
    audience,
    body: z.strictObject({ navigation_view: navigationViewSchema.strict() }),
  }),
  'navigation_view/update': users('A navigation view changed.', {
    audience,
    body: z.strictObject({
      fragment: str,
      data: z
        .strictObject({ name: str.describe('The name of the view.').optional(), is_pinned: bool.optional() })
        .refine(...isNotEmpty)
        .describe('What changed.'),
    }),
  }),
  'navigation_view/remove': users('A navigation view is gone.', { audience, body: z.strictObject({ fragment: str }) }),
  onboarding_steps: users('The onboarding steps that the receiver has not seen, all of them.', {
    audience,
    body: z.strictObject({
      onboarding_steps: z.array(
        z.strictObject({
          type: z.enum(['one_time_notice', 'one_time_action']).describe('The kind of step.'),
          name: str.describe('The name of the step.'),
        }),
      ),
    }),
  }),
  invites_changed: users('Invitations that the receiver may see changed.', { audience, body: z.strictObject({}) }),
};
