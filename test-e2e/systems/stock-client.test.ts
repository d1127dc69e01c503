/**
 * The client for JavaScript that the npm registry provides, as it is. Other clients are in no registry that this project
 * installs from.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../api.ts';
import { openSystem } from '../open-system.ts';
import { zulip } from '../stock-zulip.ts';

let system: System;
let bot: ChildProcess | undefined;
beforeAll(async () => {
  system = await openSystem({ replicas: 2 });
});
afterAll(async () => {
  bot?.kill('SIGKILL');
  await system?.stop();
});

test('during a day of work, all requests of the client return its own changes', async () => {
  const { member, member2 } = system.people;
  const client = await zulip({ username: member.email, password: member.password, realm: system.url });
  const ok = async (answer: ReturnType<typeof client.users.me.getProfile>) => {
    const given = await answer;
    expect(given).toMatchObject({ result: 'success', msg: '' });
    return given;
  };
  expect(await ok(client.server.settings())).toHaveProperty('realm_url');
  const me = await ok(client.users.me.getProfile());
  const { members } = await ok(client.users.retrieve());
  const other = members.find((one: { full_name: string }) => one.full_name === member2.full_name);
  expect(me.user_id).not.toBe(other.user_id);
  // The client sends null for "all types of events".
  const queue = await ok(client.queues.register({ event_types: null }));
  await ok(client.users.me.subscriptions.add({ subscriptions: JSON.stringify([{ name: 'stock' }]) }));
  const { stream_id } = await ok(client.streams.getStreamId('stock'));
  const { subscriptions } = await ok(client.streams.subscriptions.retrieve());
  expect(subscriptions.map((one: { stream_id: number }) => one.stream_id)).toContain(stream_id);

  const { id } = await ok(
    client.messages.send({ type: 'stream', to: 'stock', topic: 'day', content: 'good **morning**' }),
  );
  await ok(client.messages.send({ type: 'private', to: JSON.stringify([other.user_id]), content: 'to you' }));
  await ok(client.typing.send({ op: 'start', to: [other.user_id] }));
  await ok(client.reactions.add({ message_id: id, emoji_name: 'wave' }));
  await ok(client.messages.flags.add({ messages: [id], flag: 'starred' }));
  await ok(client.messages.update({ message_id: id, content: 'good *evening*' }));
  const { messages } = await ok(
    client.messages.retrieve({
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
      narrow: [
        { operator: 'stream', operand: 'stock' },
        { operator: 'topic', operand: 'day' },
      ],
    }),
  );
  expect(messages).toMatchObject([
    { id, content: '<p>good <em>evening</em></p>', reactions: [{ emoji_name: 'wave' }] },
  ]);
  expect(messages[0].flags).toContain('starred');
  expect((await ok(client.messages.getById({ message_id: id }))).raw_content).toBe('good *evening*');
  expect((await ok(client.messages.getHistoryById({ message_id: id }))).message_history).toHaveLength(2);
  expect((await ok(client.messages.render({ content: '*x*' }))).rendered).toBe('<p><em>x</em></p>');
  const { topics } = await ok(client.streams.topics.retrieve({ stream_id }));
  expect(topics.map((topic: { name: string }) => topic.name)).toContain('day');
  await ok(client.emojis.retrieve());
  expect((await ok(client.filters.retrieve())).filters).toEqual([]);
  expect((await ok(client.users.me.alertWords.retrieve())).alert_words).toEqual([]);
  expect(await ok(client.users.me.pointer.retrieve())).toHaveProperty('pointer');

  const position = { queue_id: queue.queue_id, last_event_id: queue.last_event_id, dont_block: true };
  const types = async (): Promise<string[]> =>
    (await ok(client.events.retrieve(position))).events.map((event: { type: string }) => event.type);
  const expected = ['stream', 'subscription', 'message', 'reaction', 'update_message', 'update_message_flags'];
  await expect.poll(types).toEqual(expect.arrayContaining(expected));
  await ok(client.messages.deleteById({ message_id: id }));
  await ok(client.users.me.subscriptions.remove({ subscriptions: JSON.stringify(['stock']) }));
  await ok(client.queues.deregister({ queue_id: queue.queue_id }));
});

/** A bot as its author writes it: it answers each ping. */
const botSource = `
const zulip = require('zulip-js');
zulip({ username: process.env.BOT_NAME, password: process.env.BOT_PASSWORD, realm: process.env.BOT_REALM }).then((client) =>
  client.callOnEachEvent(({ type, message }) => {
    if (type !== 'message' || !message.content.includes('ping')) return;
    const content = message.content.replace(/<[^>]*>/g, '').replace('ping', 'pong');
    client.messages.send({ type: 'stream', to: message.display_recipient, topic: message.subject, content }).catch(() => undefined);
  }, ['message']),
);
`;

test('a bot follows while the processes that it is connected to are killed', async () => {
  const { member, member2 } = system.people;
  bot = spawn(process.execPath, ['-e', botSource], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, BOT_NAME: member.email, BOT_PASSWORD: member.password, BOT_REALM: system.url },
    stdio: 'ignore',
  });
  const contents = async (): Promise<string[]> => {
    const narrow = [{ operator: 'topic', operand: 'bot' }];
    const answer = await request(system.url, member2, 'GET /messages', {
      anchor: 'newest',
      num_before: 100,
      num_after: 0,
      narrow,
      apply_markdown: false,
    }).catch(() => undefined);
    return (answer?.body.messages ?? []).map((message: { content: string }) => message.content);
  };
  let pings = 0;
  const ping = async (): Promise<string> => {
    const content = `ping ${++pings}`;
    const form = { type: 'channel', to: 'general', topic: 'bot', content };
    const send = () =>
      request(system.url, { ...member2, headers: { 'idempotency-key': content } }, 'POST /messages', form);
    await expect
      .poll(() =>
        send().then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    return content.replace('ping', 'pong');
  };
  // The bot receives only messages that are sent after it has registered.
  await expect
    .poll(
      async () => {
        await ping();
        return contents();
      },
      { interval: 1_000 },
    )
    .toEqual(expect.arrayContaining([expect.stringContaining('pong')]));

  for (const program of ['gateway', 'event-queue', 'messaging'] as const) {
    for (const child of system.children.filter((one) => one.program === program)) child.kill('SIGKILL');
    // The client does not repeat a send whose connection ended with its process.
    const answers: string[] = [];
    const isAnswered = async (): Promise<boolean> => {
      answers.push(await ping());
      const given = new Set(await contents());
      return answers.some((answer) => given.has(answer));
    };
    await expect.poll(isAnswered, { interval: 1_000 }).toBe(true);
  }
  const pongs = (await contents()).filter((content) => content.includes('pong'));
  expect(pongs).toEqual([...new Set(pongs)]);
});
