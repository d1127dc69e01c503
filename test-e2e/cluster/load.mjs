/**
 * The load of the tests on a cluster. It runs in pods of its own, which no upgrade replaces, so that its counters include
 * every request before, during and after a change. Each lane follows a queue and sends messages to itself; a request that
 * is not answered with 200 is a failure and is never repeated. Prints one line for each failure, and its counters every
 * second.
 */
const { LOAD_URL, LOAD_EMAIL, LOAD_KEY, LOAD_LANES = '4', LOAD_INTERVAL_MS = '400' } = process.env;
const { LOAD_PRESENCE_MS = '2000', LOAD_REGISTER_MS = '5000', LOAD_POLLS = '0' } = process.env;
const patienceMs = 30_000;
const authorization = `Basic ${Buffer.from(`${LOAD_EMAIL}:${LOAD_KEY}`).toString('base64')}`;
const counters = { requests: 0, failed: 0, delivered: 0, doubled: 0, reordered: 0, queuesLost: 0, undelivered: 0 };
const lanes = [];

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const print = (line) => console.log(JSON.stringify({ at: new Date().toISOString(), ...line }));

/** The body, or undefined after a failure, which is counted. */
async function request(method, path, form, accepts = () => false) {
  const began = Date.now();
  counters.requests += 1;
  try {
    const fields = new URLSearchParams(form);
    const response = await fetch(`${LOAD_URL}/api/v1${path}${method === 'GET' ? `?${fields}` : ''}`, {
      method,
      headers: { authorization, 'user-agent': 'NatterLoad/1.0' },
      ...(method === 'GET' ? {} : { body: fields }),
      signal: AbortSignal.timeout(90_000),
    });
    const body = await response.json();
    if (response.status === 200 || accepts(body)) return body;
    throw new Error(`${response.status} ${body.code} ${body.msg}`);
  } catch (error) {
    counters.failed += 1;
    const reason = error.cause?.code ?? error.cause?.message ?? error.message;
    print({ failure: `${method} ${path}: ${reason}`, afterMs: Date.now() - began });
    return undefined;
  }
}

const isQueueGone = (body) => body.code === 'BAD_EVENT_QUEUE_ID';
const register = (idleSeconds) =>
  request('POST', '/register', {
    event_types: '["message"]',
    apply_markdown: 'false',
    idle_queue_timeout: idleSeconds,
  });

async function follow(lane) {
  for (;;) {
    const queue = await register('3600');
    let cursor = queue?.last_event_id;
    lane.isFollowing = queue !== undefined;
    while (queue !== undefined) {
      const query = { queue_id: queue.queue_id, last_event_id: String(cursor) };
      const body = await request('GET', '/events', query, isQueueGone);
      if (body === undefined) await pause(500);
      else if (isQueueGone(body)) {
        counters.queuesLost += 1;
        print({ lost: queue.queue_id });
        lane.isFollowing = false;
        // Messages on their way to the lost queue never arrive.
        lane.waiting.clear();
        break;
      } else
        for (const { id, message } of body.events) {
          cursor = Math.max(cursor, id);
          if (message?.content.startsWith(`${lane.name} `)) receive(lane, message);
        }
    }
    await pause(500);
  }
}

function receive(lane, { id, content }) {
  if (lane.seen.has(content)) counters.doubled += 1;
  if (id < lane.highest) counters.reordered += 1;
  lane.seen.add(content);
  lane.highest = Math.max(lane.highest, id);
  lane.waiting.delete(content);
  counters.delivered += 1;
}

async function send(lane) {
  for (let number = 0; ; number += 1) {
    await pause(Number(LOAD_INTERVAL_MS));
    if (!lane.isFollowing) continue;
    const content = `${lane.name} ${number}`;
    lane.waiting.set(content, undefined);
    const sent = await request('POST', '/messages', { type: 'direct', to: JSON.stringify([LOAD_EMAIL]), content });
    if (sent === undefined) lane.waiting.delete(content);
    else if (lane.waiting.has(content)) lane.waiting.set(content, Date.now());
  }
}

async function repeat(everyMs, step) {
  if (Number(everyMs) === 0) return;
  for (;;) {
    await pause(Number(everyMs));
    await step();
  }
}

// The address of this pod may have been another pod's, whose network policies end a little later.
while (!(await fetch(`${LOAD_URL}/api/v1/server_settings`).catch(() => undefined))?.ok) await pause(500);
for (let index = 0; index < Number(LOAD_LANES); index += 1) {
  const name = `load-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const lane = { name, waiting: new Map(), seen: new Set(), highest: 0, isFollowing: false };
  lanes.push(lane);
  follow(lane);
  send(lane);
}
repeat(LOAD_PRESENCE_MS, () => request('POST', '/users/me/presence', { status: 'active', ping_only: 'true' }));
repeat(LOAD_REGISTER_MS, async () => {
  const queue = await register('600');
  if (queue !== undefined) await request('DELETE', '/events', { queue_id: queue.queue_id });
});
setInterval(() => {
  const since = Date.now() - patienceMs;
  counters.undelivered = lanes
    .flatMap(({ waiting }) => [...waiting.values()])
    .filter((acknowledgedAt) => acknowledgedAt !== undefined && acknowledgedAt < since).length;
  print({ counters });
}, 1_000);

// Polls that are only held: no event of these queues ever comes.
for (let index = 0; index < Number(LOAD_POLLS); index += 1) {
  // The registers of one user at the same time are limited.
  await pause(1_000);
  repeat(100, async () => {
    const queue = await request('POST', '/register', { event_types: '["realm"]' });
    let cursor = queue?.last_event_id;
    while (queue !== undefined) {
      const body = await request('GET', '/events', { queue_id: queue.queue_id, last_event_id: String(cursor) });
      if (body === undefined) break;
      for (const { id } of body.events) cursor = Math.max(cursor, id);
    }
  });
}
