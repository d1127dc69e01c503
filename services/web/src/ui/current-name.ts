import type { Client } from '@natter/client';
import { t } from '../text/text.ts';

/**
 * The name that a channel has now, for a request that names channels. A name on screen may be an earlier one: it may be
 * that of another channel, and subscribing to a name that no channel has creates one.
 */
export async function currentName(client: Client, id: number): Promise<string> {
  const { stream } = await client.getChannel({ stream_id: id });
  if (stream.is_archived) throw new Error(t('theChannelIsArchived'));
  return stream.name;
}
