import type { Bot } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { accountColumns, accountRow, avatarUrl } from '../accounts/account-row.ts';
import type { KeySeal } from '../authentication/key-seal.ts';

const botRow = accountRow.extend({
  sealed_key: z.string(),
  services: z.array(z.record(z.string(), z.unknown())),
  default_sending_stream: z.string().nullable(),
  default_events_register_stream: z.string().nullable(),
  default_all_public_streams: z.boolean(),
});
export type BotRow = z.infer<typeof botRow>;

type Condition = ReturnType<typeof sql.fragment>;

export const readBots = (executor: Executor, realmId: number, condition: Condition): Promise<readonly BotRow[]> =>
  executor.any(sql.type(botRow)`
    SELECT ${accountColumns}, b.sealed_key, b.services, b.default_sending_stream, b.default_events_register_stream, b.default_all_public_streams
    FROM users.account JOIN users.bot b ON b.user_id = account.id
    WHERE account.realm_id = ${realmId} AND ${condition} ORDER BY account.id`);

export const ownedBy = (userId: number): Condition => sql.fragment`account.bot_owner_id = ${userId}`;
export const everyBot = sql.fragment`NOT account.is_system_bot`;

export const botDefaults = (row: BotRow) => ({
  default_sending_stream: row.default_sending_stream,
  default_events_register_stream: row.default_events_register_stream,
  default_all_public_streams: row.default_all_public_streams,
});

/** The key of a bot for its owner, and nothing for anybody else or where the bot outranks the viewer. */
export const keyFor = (viewer: { userId: number; role: number }, row: BotRow, seal: KeySeal): string =>
  row.bot_owner_id === viewer.userId && row.role >= viewer.role ? seal.open(row.sealed_key) : '';

export const toBot = (row: BotRow, api_key: string): Bot => ({
  user_id: row.id,
  full_name: row.full_name,
  email: row.email,
  bot_type: row.bot_type ?? 1,
  api_key,
  ...botDefaults(row),
  avatar_url: avatarUrl(row),
  owner_id: row.bot_owner_id,
  services: row.services,
  is_active: row.is_active,
});
