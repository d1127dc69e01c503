import { type Fragment, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { type ChannelRow, channelColumns, channelRow } from './channel-row.ts';

/** The number of channels that are read at once, and that one event announces: a realm can have 50,000. */
export const channelsAtOnce = 500;
/** The number of channels whose subscribers are in memory at once: there may be thousands in each. */
export const listedChannelsAtOnce = 100;

const idRow = z.object({ id: z.number() });

/** Reads the channels of the realm for which a condition holds, in portions, by id. */
export async function* channelsInPortions(work: Work, condition: Fragment): AsyncGenerator<readonly ChannelRow[]> {
  const ids = await work.any(sql.type(idRow)`
    SELECT c.id FROM channels.channel c WHERE c.realm_id = ${work.realmId} AND ${condition} ORDER BY c.id`);
  for (let at = 0; at < ids.length; at += channelsAtOnce) {
    const some = ids.slice(at, at + channelsAtOnce).map(({ id }) => id);
    yield await work.any(sql.type(channelRow)`
      SELECT ${channelColumns} FROM channels.channel c WHERE c.id = ANY(${sql.array(some, 'int4')}) ORDER BY c.id`);
  }
}
