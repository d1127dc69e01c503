import { sql } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { lockRealm } from '../realm/read-realm.ts';
import { announceBotChange } from './announce-bot.ts';
import { readBots } from './bot-row.ts';

/** Bots store their default channels by name, so a renamed channel is renamed there too. */
export function defaultChannelNamesConsumer(owner: Owner): void {
  owner.consume({
    name: 'bot-default-channels',
    types: ['stream'],
    handle: async (work, { event: { op, body } }) => {
      if (op !== 'update' || body.property !== 'name') return;
      const [before, after] = [String(body.name), String(body.value)];
      await lockRealm(work);
      const bots = await readBots(
        work,
        work.realmId,
        sql.fragment`${before} IN (b.default_sending_stream, b.default_events_register_stream)`,
      );
      for (const bot of bots) {
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
    },
  });
}
