import { expect, test } from 'vitest';
import { request } from '../../api.ts';
import { collector, system } from './system.ts';

test('one trace covers the request, the services and the delivery of its event', async () => {
  const { member } = system.people;
  // A gateway follows the log of a realm when it serves one of its queues.
  const queue = await request(system.url, member, 'POST /register', { event_types: ['message'] });
  const cursor = { queue_id: queue.body.queue_id, last_event_id: -1 };
  const polls = [0, 1].map(() => request(system.url, member, 'GET /events', { ...cursor, dont_block: true }));
  await Promise.all(polls);
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const form = { type: 'direct', to: [member.user_id], content: 'x' };
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const sent = await request(system.url, { ...member, headers }, 'POST /messages', form);
  expect(sent.status).toBe(200);
  const wanted = ['gateway send-message', 'messaging.send-message', 'deliver message'];
  expect(await collector.trace(traceId, wanted)).toEqual(expect.arrayContaining(wanted));
});
