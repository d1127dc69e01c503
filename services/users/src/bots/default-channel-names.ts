import { type Audience, hasId, type LogEvent } from '@natter/contracts';
import { sql, type Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { announceBotChange } from '../model/announce-bot.ts';
import { readBots } from '../model/bot-row.ts';
import { lockRealm } from '../model/read-realm.ts';

export const defaultChannelNames = 'bot-default-channels';

/**
 * Bots store their default channels by name, so a rename of a channel is applied there too. The bot's owner
 * may no longer know the channel: they must not learn the new name.
 */
export function defaultChannelNamesConsumer(owner: Owner): void {
  owner.consume({
    name: defaultChannelNames,
    on: { 'stream/update': renamed },
  });
}

async function renamed(work: Work, { body, audience, note }: LogEvent<'stream/update'>): Promise<void> {
  if (body.property !== 'name') return;
  // The bots send to the active channel.
  if (note?.is_former_name_used) return;
  const [before, after] = [body.name, body.value];
  await lockRealm(work);
  const bots = await readBots(
    work,
    work.realmId,
    sql.fragment`${before} IN (b.default_sending_stream, b.default_events_register_stream)`,
  );
  for (const bot of bots) {
    if (bot.bot_owner_id !== null && !reaches(audience, bot.bot_owner_id)) continue;
    const changes = {
      ...(bot.default_sending_stream === before ? { default_sending_stream: after } : {}),
      ...(bot.default_events_register_stream === before ? { default_events_register_stream: after } : {}),
    };
    const { default_sending_stream, default_events_register_stream } = { ...bot, ...changes };
    await work.run(sql.unsafe`
      UPDATE users.bot SET default_sending_stream = ${default_sending_stream}, default_events_register_stream = ${default_events_register_stream}
      WHERE user_id = ${bot.id}`);
    await announceBotChange(work, bot, changes);
  }
}

const reaches = (audience: Audience, userId: number): boolean =>
  audience === 'realm' ||
  (hasId(audience.users, userId) && !(audience.except !== undefined && hasId(audience.except, userId)));
