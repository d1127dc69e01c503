import { roles, type User } from '@natter/contracts';
import { sql } from '@natter/database';
import { z } from 'zod';

export const accountRow = z.object({
  id: z.number(),
  email: z.string(),
  full_name: z.string(),
  role: z.number(),
  is_active: z.boolean(),
  is_bot: z.boolean(),
  is_system_bot: z.boolean(),
  bot_type: z.number().nullable(),
  bot_owner_id: z.number().nullable(),
  timezone: z.string(),
  avatar_version: z.number(),
  joined_at: z.date(),
});
export type AccountRow = z.infer<typeof accountRow>;

export const accountColumns = sql.fragment`id, email, full_name, role, is_active, is_bot, is_system_bot, bot_type, bot_owner_id, timezone, avatar_version, joined_at`;

/** Specification 2.4. `clientGravatar` leaves the picture to clients that can make its address from the email. */
export function toUser(row: AccountRow, clientGravatar: boolean): User {
  return {
    user_id: row.id,
    delivery_email: row.email,
    email: row.email,
    full_name: row.full_name,
    date_joined: row.joined_at.toISOString().replace(/\.\d+Z$/, '+00:00'),
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
    avatar_url: clientGravatar ? null : `/avatar/${row.id}?version=${row.avatar_version}`,
    avatar_version: row.avatar_version,
  };
}
