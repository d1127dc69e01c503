import type { Client } from '@natter/client';

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
