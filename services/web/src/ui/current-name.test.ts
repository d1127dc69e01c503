import type { Client } from '@natter/client';
import { expect, test } from 'vitest';
import { currentName } from './current-name.ts';

const clientOf = (stream: object): Client => ({ getChannel: () => Promise.resolve({ stream }) }) as unknown as Client;

test('a request names a channel as it is named now, and no archived one', async () => {
  expect(await currentName(clientOf({ name: 'orchard', is_archived: false }), 1)).toBe('orchard');
  await expect(currentName(clientOf({ name: 'orchard', is_archived: true }), 1)).rejects.toThrow(
    'The channel is archived.',
  );
});
