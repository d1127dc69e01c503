import { connected, copyRow, type Json, openRealm } from '@natter/testkit';
import { expect, test } from 'vitest';
import { behindRows } from '../../held-rows.ts';
import { tus } from './tus.ts';
import { uploadText } from './upload.ts';

test('the list of 45,000 files is limited to 8 MiB, and only its newest files contain up to 50 messages', async () => {
  const realm = await openRealm();
  const { member, id: realmId } = realm;
  const url = await uploadText(member, 'text');
  const form = { type: 'direct', to: [member.user_id], content: `[file](${url})` };
  const { id: first } = await member.ok('POST', '/messages', form);
  const ofRealm = `realm_id = ${realmId}`;
  await copyRow({ table: 'messaging.message', where: `${ofRealm} AND id = ${first}` }, 59, { id: 't.id + n' });
  await copyRow({ table: 'messaging.attachment', where: ofRealm }, 44_999, { token: "'copy' || n || t.token" });
  await connected((client) =>
    client.query(`
      INSERT INTO messaging.attachment_message (realm_id, attachment_id, message_id)
      SELECT ${realmId}, a.id, ${first} + m FROM messaging.attachment a CROSS JOIN generate_series(0, 59) m
      WHERE ${ofRealm} AND (m < 2 OR a.id > (SELECT max(id) - 1000 FROM messaging.attachment WHERE ${ofRealm})) ON CONFLICT DO NOTHING`),
  );
  const { attachments, upload_space_used } = await member.ok('GET', '/attachments');
  expect(upload_space_used).toBe(4);
  const ids: number[] = attachments.map((file: Json) => file.id);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  const bytes = Buffer.byteLength(JSON.stringify(attachments));
  expect(bytes).toBeGreaterThan(7.9 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(8.1 * 1024 * 1024);
  const messages: number[][] = attachments.map((file: Json) => file.messages.map(({ id }: Json) => id));
  const newest = Array.from({ length: 50 }, (_, index) => first + 10 + index);
  expect([messages[0], messages[399]]).toEqual([newest, newest]);
  expect([messages[600], messages.at(-1)]).toEqual([[first + 59], [first + 1]]);
});

test('an empty upload of a user with almost too many files locks the space of the realm before it counts them', async () => {
  const { member, id } = await openRealm();
  await uploadText(member, 'text');
  const ofRealm = `realm_id = ${id}`;
  await copyRow({ table: 'messaging.attachment', where: ofRealm }, 49_950, { token: "'copy' || n || t.token" });
  const create = () => tus(member, 'POST', '/api/v1/tus/', { headers: { 'upload-length': '0' } });
  const [answer] = await behindRows(
    { rows: 'messaging.upload_space WHERE realm_id = $1 FOR UPDATE', values: [id], services: ['messaging'] },
    [create],
    async (observer) => {
      const count = await observer.query('SELECT pg_try_advisory_xact_lock(7513, $1) AS is_free', [id]);
      expect(count.rows).toEqual([{ is_free: true }]);
    },
  );
  expect(answer?.status).toBe(201);
});
