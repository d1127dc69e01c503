import { z } from 'zod';
import { navigationViewSchema, savedSnippetSchema } from '../operations/collections.ts';
import { draftSchema } from '../operations/drafts.ts';
import { reminderSchema, scheduledMessageSchema } from '../operations/scheduled-messages.ts';
import { mutedUserSchema } from '../operations/social.ts';
import { bool, int, str } from './shapes.ts';

const draft = draftSchema.strict();
const saved_snippet = savedSnippetSchema.strict();
const scheduled_message = scheduledMessageSchema.strict();
const device = { device_id: int };

/** What belongs to one person alone. */
export const ownEvents = {
  muted_users: z.strictObject({ muted_users: z.array(mutedUserSchema.strict()) }),
  alert_words: z.strictObject({ alert_words: z.array(str) }),
  has_zoom_token: z.strictObject({ value: bool }),
  push_device: z.strictObject({
    push_account_id: int,
    status: z.enum(['active', 'pending', 'failed']),
    error_code: str.nullable().optional(),
  }),
  'device/add': z.strictObject(device),
  'device/remove': z.strictObject(device),
  'device/update': z.strictObject({
    ...device,
    push_key_id: int.nullable().optional(),
    push_token_id: str.nullable().optional(),
    pending_push_token_id: str.nullable().optional(),
    push_token_last_updated_timestamp: int.nullable().optional(),
    push_registration_error_code: str.nullable().optional(),
  }),
  'drafts/add': z.strictObject({ drafts: z.array(draft) }),
  'drafts/update': z.strictObject({ draft }),
  'drafts/remove': z.strictObject({ draft_id: int }),
  'saved_snippets/add': z.strictObject({ saved_snippet }),
  'saved_snippets/update': z.strictObject({ saved_snippet }),
  'saved_snippets/remove': z.strictObject({ saved_snippet_id: int }),
  'scheduled_messages/add': z.strictObject({ scheduled_messages: z.array(scheduled_message) }),
  'scheduled_messages/update': z.strictObject({ scheduled_message }),
  'scheduled_messages/remove': z.strictObject({ scheduled_message_id: int }),
  'reminders/add': z.strictObject({ reminders: z.array(reminderSchema.strict()) }),
  'reminders/remove': z.strictObject({ reminder_id: int }),
  'navigation_view/add': z.strictObject({ navigation_view: navigationViewSchema.strict() }),
  'navigation_view/update': z.strictObject({
    fragment: str,
    data: z
      .strictObject({ name: str.optional(), is_pinned: bool.optional() })
      .refine((data) => Object.keys(data).length > 0, 'something changed'),
  }),
  'navigation_view/remove': z.strictObject({ fragment: str }),
  onboarding_steps: z.strictObject({
    onboarding_steps: z.array(z.strictObject({ type: z.enum(['one_time_notice', 'one_time_action']), name: str })),
  }),
  invites_changed: z.strictObject({}),
};
