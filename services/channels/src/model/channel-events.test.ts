import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import { expect, test } from 'vitest';
import { to } from './audience.ts';
import { announceSubscribersOf } from './channel-events.ts';
import { Directory } from './directory/directory.ts';
import { plainMember } from './directory/plain-member.ts';

const subscribers = Array.from({ length: 240 }, (_, index) => index + 1);

function directoryOfSubscribers(): Directory {
  const directory = new Directory('');
  for (const userId of subscribers) directory.setPerson(plainMember(userId));
  return directory;
}

/** The ids of the channels whose subscribers are announced, of this number of channels with equal subscribers. */
async function announcedOf(count: number): Promise<number[]> {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  const events: LogEvent[] = [];
  const work: Partial<Work> = {
    realmId: 1,
    isConsumer: true,
    emitted: () => events.length,
    emit: (event) => events.push(event) - 1,
    any: async () => ids.map((channel_id) => ({ channel_id, users: subscribers })) as never,
  };
  const appeared = ids.map((id) => ({
    channel: { id, is_archived: false, subscriber_count: subscribers.length },
    audience: to([1]),
    key: '',
  }));
  await announceSubscribersOf(work as Work, directoryOfSubscribers(), appeared);
  return events.flatMap((event) =>
    event.type === 'subscription' && event.op === 'peer_add' ? [...event.body.stream_ids] : [],
  );
}

test('subscribers of many small channels are announced for the newest channels only', async () => {
  expect(await announcedOf(1_000)).toHaveLength(1_000);
  const announced = await announcedOf(1_100);
  expect(announced).toHaveLength(Math.floor(250_000 / subscribers.length));
  expect(announced.at(-1)).toBe(1_100);
});
