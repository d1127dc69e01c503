import { ApiError, type CallOptions, type Client } from '@natter/client';

/**
 * Marks messages as read. The server refuses a list if one of its messages is gone: halves of the list are sent then, and
 * a message that is refused alone is left out.
 */
export async function markAsRead(
  client: Client,
  messages: readonly number[],
  options: CallOptions = {},
): Promise<void> {
  try {
    await client.updateFlags({ messages: [...messages], op: 'add', flag: 'read' }, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    if (messages.length < 2) return;
    const middle = messages.length >> 1;
    await markAsRead(client, messages.slice(0, middle), options);
    await markAsRead(client, messages.slice(middle), options);
  }
}
