/**
 * The minimum work of an HTTP edge. `json`: answers at once. `bus`: passes the form to NATS and returns the reply.
 * `held`: holds every poll until NATS provides the answer.
 */
import { once } from 'node:events';
import formbody from '@fastify/formbody';
import { connect } from '@nats-io/transport-node';
import { type FastifyReply, fastify } from 'fastify';

export interface HttpFloor {
  mode: 'json' | 'bus' | 'held';
  natsUrl: string;
}

const { mode, natsUrl } = JSON.parse(process.argv[2] ?? '{}') as HttpFloor;
process.on('disconnect', () => process.exit());
const nats = await connect({ servers: new URL(natsUrl).host, noAsyncTraces: true });
const app = fastify();
await app.register(formbody);

if (mode === 'held') {
  let held: FastifyReply[] = [];
  app.get('/api/v1/events', (_, reply) => void held.push(reply));
  process.on('message', () => process.send?.({ held: held.length }));
  nats.subscribe('floor.release', {
    callback: (_, message) => {
      const answered = held;
      held = [];
      const body = message.string();
      for (const reply of answered) reply.header('content-type', 'application/json').send(body);
    },
  });
} else {
  app.post('/api/v1/messages', async (request) => {
    if (mode === 'json') return { result: 'success', msg: '', id: 1 };
    const reply = await nats.request('floor.send', JSON.stringify(request.body), { timeout: 10_000 });
    return { result: 'success', msg: '', ...(reply.json() as object) };
  });
}
await nats.flush();
await app.ready();
app.server.listen({ fd: 4 }, 4_096);
await once(app.server, 'listening');
process.send?.({ ready: true });
