import { z } from 'zod';
import { id, integer, string, trimmed, union } from '../model/bounded.ts';
import { limits } from '../model/limits.ts';
import { operation, pageSchema } from '../model/operation.ts';
import { bool, distinctIds, int, json, text } from '../model/param.ts';

const invitationSchema = z.object({
  id: int.describe('The ID of the invitation.'),
  invited_by_user_id: int,
  invited: int,
  expiry_date: int.nullable(),
  invited_as: int,
  is_multiuse: bool,
  notify_referrer_on_join: bool,
  email: z.string().describe('The address to which it was sent; absent for reusable links.').optional(),
  /** Only for reusable links; absent if the link grants more than its viewer may grant. */
  link_url: z.string().optional(),
});
export type Invitation = z.infer<typeof invitationSchema>;

const inviteAs = union([z.literal(100), z.literal(200), z.literal(300), z.literal(400), z.literal(600)]);
/** Groups and channels that one unit of the rate limit covers. */
const namedPerUnit = 50;
type Named = Record<'group_ids' | 'stream_ids', number[] | undefined>;
const weighNamed = ({ group_ids = [], stream_ids = [] }: Named): number =>
  (group_ids.length + stream_ids.length) / namedPerUnit;
const shared = {
  /** Null for an invitation that never ends; if absent, the server's default is used. */
  invite_expires_in_minutes: json(integer(1, 100_000_000).nullable().optional()),
  invite_as: json(inviteAs.default(400)),
  group_ids: json(distinctIds(1_000).default([])),
  include_realm_default_subscriptions: json(bool.default(false)),
  /** Clients that cannot omit a value send the word `null`. */
  welcome_message_custom_text: text(
    string(limits.welcomeTextLength)
      .transform((value) => (value === 'null' ? null : value))
      .optional(),
  ),
};
const invite_id = json(id);
const key = text(string(100).describe('The secret part of the invitation link.'));
const errors = ['BAD_REQUEST'] as const;
const events = ['invites_changed'] as const;
const joining = {
  email: text(trimmed(254).describe('The email address, if the invitation does not name it.').optional()),
  full_name: text(string(1_000)),
  password: text(string(1_000)),
};

/** For a link that verifies an address, the form has these fields only. */
const joiningByPage = {
  email: joining.email,
  full_name: text(string(1_000).default('')),
  password: text(string(1_000).default('')),
};

export const invitationOperations = {
  createInviteLink: operation({
    name: 'create-invite-link',
    service: 'users',
    http: { method: 'POST', path: '/invites/multiuse' },
    caller: 'human',
    permission: 'create_multiuse_invite_group',
    summary: 'Create a reusable invitation link.',
    weigh: weighNamed,
    params: { ...shared, stream_ids: json(distinctIds(1_000).default([])) },
    result: z.object({ invite_link: z.string() }),
    errors,
    events,
  }),
  editInviteLink: operation({
    name: 'edit-invite-link',
    service: 'users',
    http: { method: 'PATCH', path: '/invites/multiuse/{invite_id}' },
    caller: 'human',
    permission: 'create_multiuse_invite_group',
    summary: 'Change what a reusable invitation link gives and when it expires; what is not given stays.',
    weigh: weighNamed,
    params: {
      invite_id,
      invite_expires_in_minutes: shared.invite_expires_in_minutes,
      invite_as: json(inviteAs.optional()),
      stream_ids: json(distinctIds(1_000).optional()),
      group_ids: json(distinctIds(1_000).optional()),
      include_realm_default_subscriptions: json(bool.optional()),
      welcome_message_custom_text: shared.welcome_message_custom_text,
    },
    errors,
    events,
  }),
  sendInvites: operation({
    name: 'send-invites',
    service: 'users',
    http: { method: 'POST', path: '/invites' },
    caller: 'human',
    permission: 'can_invite_users_group',
    summary: 'Invite people by mail.',
    weight: 20,
    weigh: weighNamed,
    params: {
      ...shared,
      stream_ids: json(distinctIds(1_000)),
      invitee_emails: text(string(100_000)),
      notify_referrer_on_join: json(bool.default(true)),
    },
    errors: ['BAD_REQUEST', 'INVITATION_FAILED'],
    events,
  }),
  getInvites: operation({
    name: 'get-invites',
    service: 'users',
    http: { method: 'GET', path: '/invites' },
    caller: 'human',
    checksCredential: true,
    weight: 2,
    summary: 'Invitations that are still open: all for administrators, their own for others.',
    result: z.object({ invites: z.array(invitationSchema) }),
  }),
  revokeInvite: operation({
    name: 'revoke-invite',
    service: 'users',
    http: { method: 'DELETE', path: '/invites/{invite_id}' },
    summary: 'Revoke an invitation that was sent by mail.',
    params: { invite_id },
    errors,
    events,
  }),
  revokeInviteLink: operation({
    name: 'revoke-invite-link',
    service: 'users',
    http: { method: 'DELETE', path: '/invites/multiuse/{invite_id}' },
    summary: 'Revoke a reusable invitation link.',
    params: { invite_id },
    errors,
    events,
  }),
  resendInvite: operation({
    name: 'resend-invite',
    service: 'users',
    http: { method: 'POST', path: '/invites/{invite_id}/resend' },
    permission: 'can_invite_users_group',
    summary: 'Send an invitation by mail once more.',
    weight: 5,
    params: { invite_id },
    errors,
    events,
  }),
  join: operation({
    name: 'join',
    service: 'users',
    http: { method: 'POST', path: '/join' },
    caller: 'public',
    summary: 'Make an account with an invitation. The address is needed where the invitation does not name it.',
    weight: 5,
    params: { key, ...joining },
    result: z.object({ user_id: int, email: z.string(), api_key: z.string() }),
    errors,
    events: ['realm_user', 'user_group', 'invites_changed', 'user_status'],
  }),
  joinPage: operation({
    name: 'join-page',
    service: 'users',
    page: { method: 'GET', path: '/join/{key}' },
    caller: 'public',
    summary: 'The page that an invitation link opens.',
    params: { key },
    result: pageSchema,
    isReadOnly: true,
  }),
  confirmPage: operation({
    name: 'confirm-page',
    service: 'users',
    page: { method: 'GET', path: '/accounts/do_confirm/{key}' },
    caller: 'public',
    summary: 'The page that an invitation by mail opens.',
    params: { key },
    result: pageSchema,
    isReadOnly: true,
  }),
  joinByPage: operation({
    name: 'join-by-page',
    service: 'users',
    page: { method: 'POST', path: '/join/{key}' },
    caller: 'public',
    summary: 'What the page of an invitation link sends.',
    weight: 5,
    /** The form of the page contains the key, so that sending it twice has one effect. A header takes precedence. */
    params: { key, ...joiningByPage, idempotency_key: text(string(100).optional()) },
    result: pageSchema,
    events: ['realm_user', 'user_group', 'user_status', 'invites_changed'],
  }),
  /** Called on behalf of the inviter: channels checks to which channels they may add subscribers. */
  checkInvitedChannels: operation({
    name: 'check-invited-channels',
    service: 'channels',
    caller: 'internal',
    callers: ['users'],
    summary: 'Refuses channels to which the actor may not subscribe others. Bus only.',
    params: { stream_ids: json(distinctIds(1_000)) },
    errors,
    isReadOnly: true,
  }),
};
