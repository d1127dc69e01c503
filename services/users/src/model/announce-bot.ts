import { type Audience, type Bot, idSet, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from './account-row.ts';
import { administratorsAnd } from './announce-account.ts';
import { type BotRow, type BotViewer, keyFor, readBots, servicesFor, toBot, withoutTokens } from './bot-row.ts';
import type { KeySeal } from './credentials/key-seal.ts';

type Some = Exclude<Audience, 'realm'>;

/** Announced to the owner and administrators; the realm is locked, so that these do not change meanwhile. */
export async function announceBotChange(
  work: Work,
  row: Pick<AccountRow, 'id' | 'bot_owner_id'>,
  changes: Partial<Bot>,
): Promise<void> {
  const audience = await administratorsAnd(work, row.bot_owner_id);
  const { services } = changes;
  const bot = { user_id: row.id, ...changes, ...(services ? { services: withoutTokens(services) } : {}) };
  work.emit({
    type: 'realm_bot',
    op: 'update',
    body: { bot },
    audience,
    ...withheld(row.id, services ? ['services'] : []),
  });
}

/**
 * Emits the key of a bot to one user, its present or former owner. Administrators read a key with a separate request.
 */
export function announceKey(work: Work, botId: number, userId: number, api_key: string): void {
  const audience = { users: idSet([userId]) };
  const body = { bot: { user_id: botId, api_key: '' } };
  work.emit({ type: 'realm_bot', op: 'update', body, audience, ...withheld(botId, api_key === '' ? [] : ['api_key']) });
}

export async function announceBot(work: Work, botId: number, audience: Some): Promise<void> {
  const [bot] = await readBots(work, work.realmId, sql.fragment`account.id = ${botId}`);
  if (bot) work.emit(botAdded(bot, audience));
}

const botAdded = (row: BotRow, audience: Some): LogEvent => {
  const body = { bot: toBot(row) };
  return { type: 'realm_bot', op: 'add', body, audience, ...withheld(row.id, ['api_key', 'services']) };
};

/** Keys of bots and tokens of their services are not stored in the log; they are added on delivery. */
const withheld = (id: number, fields: string[]): Pick<LogEvent, 'withheld'> =>
  fields.length === 0 ? {} : { withheld: { in: 'bot', kind: 'bot', id, fields } };

/** The withheld fields of a bot, as far as this viewer may see them. */
export function revealBot(
  row: BotRow,
  viewer: BotViewer,
  fields: readonly string[],
  seal: KeySeal,
): Record<string, unknown> {
  const all: Record<string, unknown> = {
    api_key: keyFor(viewer, row, seal),
    services: servicesFor(viewer, row),
  };
  return Object.fromEntries(fields.filter((field) => field in all).map((field) => [field, all[field]]));
}

/** A unit must not announce too much, or nobody could change the role of a user of an organization with many bots. */
const maxTold = 10_000;

/**
 * A new administrator sees all bots; a former one only their own. If there are more bots than one unit announces,
 * active and then newer bots come first; a register contains the others.
 */
export async function announceBotsTo(
  work: Work,
  audience: Some,
  userId: number,
  isAdministrator: boolean,
): Promise<void> {
  const emit = (bot: BotRow) =>
    isAdministrator
      ? work.emit(botAdded(bot, audience))
      : work.emit({ type: 'realm_bot', op: 'delete', body: { bot: { user_id: bot.id } }, audience });
  const others = sql.fragment`account.id IN (
    SELECT o.id FROM users.account o
    WHERE o.realm_id = ${work.realmId} AND o.is_bot AND NOT o.is_system_bot AND o.bot_owner_id IS DISTINCT FROM ${userId}
    ORDER BY o.is_active DESC, o.id DESC LIMIT ${maxTold})`;
  for (const bot of await readBots(work, work.realmId, others)) emit(bot);
}
