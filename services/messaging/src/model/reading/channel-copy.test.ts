import type { ChannelObject, LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { expect, test } from 'vitest';
import { channelsAppeared } from './channel-copy.ts';

test('all new channels of an event are copied with one statement', async () => {
  let statements = 0;
  const work: Partial<Work> = { realmId: 1, run: async () => ++statements };
  const flags = { invite_only: false, is_web_public: false, is_archived: false, history_public_to_subscribers: true };
  const streams = [1, 2, 3].map(
    (stream_id) => ({ stream_id, name: `channel ${stream_id}`, ...flags }) as ChannelObject,
  );
  const event: LogEvent<'stream/create'> = {
    type: 'stream',
    op: 'create',
    body: { streams },
    audience: { users: { ids: [] } },
  };
  await channelsAppeared(work as Work, event);
  expect(statements).toBe(1);
});
