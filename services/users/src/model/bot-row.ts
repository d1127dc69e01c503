import type { Bot } from '@natter/contracts';
import { type Executor, sql } from '@natter/database';
import { z } from 'zod';
import { accountColumns, accountRow, avatarUrl } from './account-row.ts';
import type { KeySeal } from './credentials/key-seal.ts';

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

export interface BotViewer {
  userId: number;
  role: number;
}

/** Only the owner may see the secrets of a bot, and only if the bot does not outrank the owner. */
const maySeeSecrets = (viewer: BotViewer, row: BotRow): boolean =>
  row.bot_owner_id === viewer.userId && row.role >= viewer.role;

/** The key of a bot; empty if the viewer may not see it. */
export const keyFor = (viewer: BotViewer, row: BotRow, seal: KeySeal): string =>
  maySeeSecrets(viewer, row) ? seal.open(row.sealed_key) : '';

/** The services of a bot; their tokens are empty if the viewer may not see the key. */
export const servicesFor = (viewer: BotViewer, row: BotRow): BotRow['services'] =>
  maySeeSecrets(viewer, row) ? row.services : withoutTokens(row.services);

export const withoutTokens = (services: BotRow['services']): BotRow['services'] =>
  services.map((service) => ('token' in service ? { ...service, token: '' } : service));

/** The bot object without secrets, unless they are passed. */
export const toBot = (
  row: BotRow,
  { api_key, services }: Pick<Bot, 'api_key' | 'services'> = { api_key: '', services: withoutTokens(row.services) },
): Bot => ({
  user_id: row.id,
  full_name: row.full_name,
  email: row.email,
  bot_type: row.bot_type ?? 1,
  api_key,
  ...botDefaults(row),
  avatar_url: avatarUrl(row),
  owner_id: row.bot_owner_id,
  services,
  is_active: row.is_active,
});
