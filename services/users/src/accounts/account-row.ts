import { roles, type User, uploadedAvatarPath } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';

export const accountRow = z.object({
  id: z.number(),
  email: z.string(),
  /** The address that everybody knows: the real one where everybody may know that, else one that only names the account. */
  api_email: z.string(),
  full_name: z.string(),
  role: z.number(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  is_system_bot: z.boolean(),
  bot_type: z.number().nullable(),
  bot_owner_id: z.number().nullable(),
  timezone: z.string(),
  /** Who may see the real address: 1 everyone, 2 members, 3 administrators, 4 nobody, 5 moderators. */
  visibility: z.number(),
  avatar_version: z.number(),
  /** Of an uploaded picture. */
  avatar_token: z.string().nullable(),
  date_joined: z.string(),
});
export type AccountRow = z.infer<typeof accountRow>;

const visibility = sql.fragment`coalesce((account.settings->>'email_address_visibility')::int, 1)`;
export const nominalEmail = sql.fragment`'user' || account.id || '@' || (SELECT r.host FROM users.realm r WHERE r.id = account.realm_id)`;
/** Columns of `users.account`, which must bear no other name. */
export const accountColumns = sql.fragment`account.id, account.email, CASE WHEN ${visibility} = 1 THEN account.email ELSE ${nominalEmail} END AS api_email,
  account.full_name, account.role, account.is_active, account.is_bot, account.is_system_bot, account.bot_type, account.bot_owner_id,
  coalesce(account.settings->>'timezone', '') AS timezone, ${visibility} AS visibility, account.avatar_version,
  account.avatar_token, to_char(account.joined_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') AS date_joined`;

/** Who looks; undefined for a spectator. */
export type Viewer = { userId: number; role: number } | undefined;

const leastRole: Record<number, number> = {
  1: roles.guest,
  2: roles.member,
  3: roles.administrator,
  5: roles.moderator,
};

/** The least role that sees real addresses of this visibility; 0 for none. */
export const roleThatSees = (visibility: number): number => leastRole[visibility] ?? 0;

export function canSeeEmail(row: Pick<AccountRow, 'id' | 'is_bot' | 'visibility'>, viewer: Viewer): boolean {
  if (!viewer) return row.is_bot;
  return row.is_bot || row.id === viewer.userId || viewer.role <= roleThatSees(row.visibility);
}

type Pictured = Pick<AccountRow, 'id' | 'avatar_version' | 'avatar_token'>;

export const avatarUrl = (row: Pictured, size: '' | '/medium' = ''): string =>
  `${row.avatar_token === null ? `/avatar/${row.id}` : `${uploadedAvatarPath}${row.avatar_token}`}${size}?version=${row.avatar_version}`;

/** G: what a client makes of the address, or we draw; U: uploaded. */
export const avatarSource = (row: Pictured): 'G' | 'U' => (row.avatar_token === null ? 'G' : 'U');

/** All that is told of a picture when it changes. */
export const pictureFields = (row: Pictured) => ({
  avatar_url: avatarUrl(row),
  avatar_url_medium: avatarUrl(row, '/medium'),
  avatar_source: avatarSource(row),
  avatar_version: row.avatar_version,
});

/** Specification 2.4. `clientGravatar` leaves the picture to clients that can make its address from the email. */
export function toUser(row: AccountRow, viewer: Viewer, clientGravatar: boolean): User {
  const seesEmail = canSeeEmail(row, viewer);
  return {
    user_id: row.id,
    delivery_email: seesEmail ? row.email : null,
    email: row.api_email,
    full_name: row.full_name,
    date_joined: row.date_joined,
    is_active: row.is_active,
    is_owner: row.role === roles.owner,
    is_admin: row.role <= roles.administrator,
    is_guest: row.role === roles.guest,
    is_bot: row.is_bot,
    bot_type: row.is_bot ? row.bot_type : null,
    ...(row.is_bot ? { bot_owner_id: row.bot_owner_id } : {}),
    ...(row.is_system_bot ? { is_system_bot: true } : {}),
    role: row.role,
    timezone: row.timezone,
    avatar_url: clientGravatar && seesEmail && row.avatar_token === null ? null : avatarUrl(row),
    avatar_version: row.avatar_version,
  };
}
