import type { Client } from '@natter/client';
import { t } from '../text/text.ts';

export interface Listed {
  id: number;
  name: string;
  description: string;
  isPrivate: boolean;
}

/** All channels that the person may see, by name. */
export async function listedChannels(client: Client): Promise<Listed[]> {
  const { streams } = await client.getChannels();
  const listed = streams as unknown as { stream_id: number; name: string; description: string; invite_only: boolean }[];
  return listed
    .map(({ stream_id, name, description, invite_only }) => ({
      id: stream_id,
      name,
      description,
      isPrivate: invite_only,
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * The name that a channel has now, for a request that names channels. A name on screen may be an earlier one: it may be
 * that of another channel, and subscribing to a name that no channel has creates one.
 */
export async function currentName(client: Client, id: number): Promise<string> {
  const { stream } = await client.getChannel({ stream_id: id });
  if (stream.is_archived) throw new Error(t('theChannelIsArchived'));
  return stream.name;
}
