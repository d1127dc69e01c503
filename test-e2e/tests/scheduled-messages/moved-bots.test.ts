import { Client, connected, type Json, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { beforeDue, soon } from './soon.ts';

let realm: Realm;
beforeAll(async () => {
  realm = await openRealm();
});

const scheduledOf = async (bot: Client): Promise<Json[]> =>
  (await bot.ok('GET', '/scheduled_messages')).scheduled_messages;

test('a message that a bot scheduled for its former owner is not sent until the bot schedules it again', async () => {
  const { member, owner } = realm;
  const made = await member.ok('POST', '/bots', { full_name: 'Sleeper', short_name: 'sleeper' });
  const bot = new Client(owner, { ...made, full_name: 'Sleeper', email: `sleeper-bot@${realm.host}` });
  const queue = await owner.queue({ event_types: ['message'] });
  const form = { type: 'direct', to: [owner.user_id], content: 'planted' };
  const { scheduled_message_id } = await bot.ok('POST', '/scheduled_messages', {
    ...form,
    scheduled_delivery_timestamp: soon(3_600),
  });
  await member.ok('PATCH', `/bots/${bot.user_id}`, { bot_owner_id: owner.user_id });
  await owner.ok('PATCH', `/bots/${bot.user_id}`, { role: 100 });
  bot.api_key = (await owner.ok('GET', `/bots/${bot.user_id}/api_key`)).api_key;
  await connected((client) =>
    client.query('UPDATE messaging.scheduled_message SET due_at = now() WHERE id = $1', [scheduled_message_id]),
  );
  await expect.poll(() => scheduledOf(bot)).toMatchObject([{ scheduled_message_id, failed: true }]);
  expect(JSON.stringify(await queue.settle())).not.toContain('planted');
  await beforeDue((scheduled_delivery_timestamp) =>
    bot.ok('PATCH', `/scheduled_messages/${scheduled_message_id}`, { scheduled_delivery_timestamp }),
  );
  await queue.next(({ message }) => message?.content.includes('planted'));
});
