import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChatEvent, type Client, createClient, follow, type State as Snapshot } from '@natter/client';
import { type System, startSystem } from '@natter/local/system';
import { modelOf, registerParams } from '@natter/web/model';
import { initialState, reduce } from '@natter/web/state';
import { afterAll, beforeAll, expect, test } from 'vitest';

let system: System;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'natter-web-state-'));
  system = await startSystem({ dataDir, log: () => undefined });
});
afterAll(async () => {
  await system?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const clientOf = (name: 'owner' | 'member' | 'member2'): Client => {
  const { email, api_key } = system.people[name];
  return createClient({ url: system.url, email, apiKey: api_key });
};

/** Changes that others make, and those of the reader in another client. */
async function changeEverything(): Promise<void> {
  const [owner, reader, other] = [clientOf('owner'), clientOf('member'), clientOf('member2')];
  const readerId = system.people.member.user_id;
  const { stream_id } = await owner.getStreamId({ stream: 'general' });
  const inTopic = { type: 'channel' as const, to: stream_id };
  const direct = { type: 'direct' as const, to: [readerId] };
  const sent: number[] = [];
  for (const topic of ['one', 'one', 'two', 'Two', 'three'])
    sent.push((await other.sendMessage({ ...inTopic, topic, content: `in ${topic}` })).id);
  const [first = 0, second = 0, third = 0, fourth = 0] = sent;
  await other.sendMessage({ ...direct, content: 'to one' });
  await other.sendMessage({ ...direct, to: [readerId, system.people.owner.user_id], content: 'to two' });
  await reader.sendMessage({ ...direct, to: [readerId], content: 'to myself' });
  await reader.updateFlags({ messages: [first, third], op: 'add', flag: 'read' });
  await reader.updateFlags({ messages: [first], op: 'remove', flag: 'read' });
  await owner.updateMessage({ message_id: second, topic: 'moved', propagate_mode: 'change_one' });
  await owner.deleteMessage({ message_id: fourth });
  await owner.updateChannel({ stream_id, new_name: 'renamed' });
}

test('the state after events is that of a fresh register', async () => {
  const reader = clientOf('member');
  const feed = await follow(reader, registerParams);
  let state = initialState(feed.state);
  const { outbox, views } = state;
  expect([outbox, views.size]).toEqual([[], 0]);
  await changeEverything();
  const events = feed[Symbol.asyncIterator]();
  const applyUntil = async (isLast: (event: ChatEvent) => boolean): Promise<void> => {
    for (;;) {
      const { value: event } = await events.next();
      if (!event || event.type === 'gap') throw new Error('The queue ended');
      if (isLast(event)) return;
      state = reduce(state, { type: 'event', event });
    }
  };
  // The notice about the new name is sent some time after the change.
  await applyUntil((event) => {
    if (event.type !== 'message' || !event.message.content.includes('renamed')) return false;
    state = reduce(state, { type: 'event', event });
    return true;
  });
  const fresh: Snapshot = await reader.register(registerParams);
  const last = await reader.sendMessage({
    type: 'direct',
    to: [system.people.member.user_id],
    content: 'the last one',
  });
  await applyUntil((event) => event.type === 'message' && event.message.id === last.id);
  expect(state.model).toEqual(modelOf(fresh));
});
