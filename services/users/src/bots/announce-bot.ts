import { type Audience, idSet, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { AccountRow } from '../accounts/account-row.ts';
import { administratorsAnd } from '../accounts/announce-account.ts';
import type { KeySeal } from '../authentication/key-seal.ts';
import {
  type BotRow,
  type BotViewer,
  everyBot,
  keyFor,
  readBots,
  servicesFor,
  toBot,
  withoutTokens,
} from './bot-row.ts';

type Some = Exclude<Audience, 'realm'>;

/** To the owner and administrators; the realm is held, so that nobody becomes or ceases to be one meanwhile. */
export async function announceBotChange(
  work: Work,
  row: Pick<AccountRow, 'id' | 'bot_owner_id'>,
  changes: Record<string, unknown>,
): Promise<void> {
  const audience = await administratorsAnd(work, row.bot_owner_id);
  const services = changes.services as BotRow['services'] | undefined;
  const bot = { user_id: row.id, ...changes, ...(services ? { services: withoutTokens(services) } : {}) };
  work.emit({
    type: 'realm_bot',
    op: 'update',
    body: { bot },
    audience,
    ...withheld(row.id, services ? ['services'] : []),
  });
}

/** Tells one person, who is or was its owner, the key of a bot. Administrators read a key with a request of its own. */
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

/** Keys of bots and tokens of their services are not in the log: whoever receives the event is told them. */
const withheld = (id: number, fields: string[]): Pick<LogEvent, 'withheld'> =>
  fields.length === 0 ? {} : { withheld: { in: 'bot', kind: 'bot', id, fields } };

/** What was withheld of a bot, as far as this viewer may see it. */
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

/** A new administrator sees all bots; a former one only their own. */
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
  const others = sql.fragment`${everyBot} AND account.bot_owner_id IS DISTINCT FROM ${userId}`;
  for (const bot of await readBots(work, work.realmId, others)) emit(bot);
}
