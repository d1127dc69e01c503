import {
  ChatError,
  eventQueueOperations,
  messageChangeOperations,
  messagingOperations,
  userOperations,
} from '@natter/contracts';
import { latencyOf } from '../engine/faults.ts';
import { runOn } from '../engine/hosts.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Caller, Gateway } from './gateway.ts';
import type { Running, SimulatedSystem } from './system.ts';

/** The answers and the deliveries that clients received until the end of a schedule. */
export interface Seen {
  /** Acknowledged sends: content, and the id in the answer. */
  sent: { realmId: number; content: string; id: number }[];
  /** Acknowledged changes of users. */
  changed: { realmId: number; userId: number }[];
  followers: Follower[];
  /** Unanswered sends and changes. */
  pending: number;
  /** Answers that no client may get. */
  violations: string[];
}

/** A client with a queue, and its deliveries in order. */
export interface Follower {
  name: string;
  realmId: number;
  userId: number;
  eventTypes: string[] | null;
  queueId: string | undefined;
  events: { id: number; type: string; event: Record<string, unknown> }[];
  lastId: number;
  /** The cursor at registration. */
  firstId: number;
}

export interface Clients {
  scheduler: Scheduler;
  system: SimulatedSystem;
  seen: Seen;
}

const clientTimeoutMs = 30_000;
const allTypes = ['message', 'realm_user', 'user_topic'];

class BrokenConnection extends Error {}

/** An answer that a client must not get: a refusal, or a failure that is not an outage. */
const isViolation = (error: unknown): error is Error =>
  error instanceof ChatError
    ? error.status < 500 || error.code === 'INTERNAL_ERROR'
    : !(error instanceof BrokenConnection);

/** An HTTP request to any gateway. Rejects if the gateway crashed or the connection broke. */
function overHttp<R>(
  { scheduler, system }: Clients,
  work: (gateway: Gateway, isOver: () => boolean) => Promise<R>,
): Promise<R> {
  const { random } = scheduler;
  const latency = () => latencyOf(random, system.weather);
  return new Promise((resolve, reject) => {
    const gateways = system.running.filter(({ kind }) => kind === 'gateway');
    if (gateways.length === 0)
      return void scheduler.after(20, undefined, () => reject(new BrokenConnection('connection refused')));
    const one = random.pick(gateways) as Running;
    let isOver = false;
    const settle = (done: () => void): void => {
      isOver = true;
      one.onCrash.delete(gone);
      stopTimeout();
      done();
    };
    const gone = (): void =>
      void scheduler.after(latency(), undefined, () => settle(() => reject(new BrokenConnection('reset'))));
    const stopTimeout = scheduler.after(clientTimeoutMs, undefined, () =>
      settle(() => reject(new BrokenConnection('time-out'))),
    );
    one.onCrash.add(gone);
    const isCut = random.chance(system.weather.nats / 2);
    scheduler.after(latency(), one.host, () => {
      const answer = runOn(one.host, () => work(one.gateway as Gateway, () => isOver));
      const deliver = (done: () => void): void =>
        void scheduler.after(latency(), undefined, () =>
          settle(isCut ? () => reject(new BrokenConnection('cut')) : done),
        );
      answer.then(
        (result) => deliver(() => resolve(result)),
        (error: unknown) => deliver(() => reject(error as Error)),
      );
    });
  });
}

/** Repeats a write under one key until it is answered. A refusal never occurs in a schedule. */
async function untilAnswered<R>(clients: Clients, what: string, work: (gateway: Gateway) => Promise<R>): Promise<R> {
  const { scheduler, seen } = clients;
  seen.pending++;
  try {
    for (;;) {
      try {
        return await overHttp(clients, work);
      } catch (error) {
        if (isViolation(error)) seen.violations.push(`${what} failed: ${error.stack}`);
        await scheduler.pause(20 + scheduler.random.next() * 300);
      }
    }
  } finally {
    seen.pending--;
  }
}

export async function send(clients: Clients, caller: Caller, content: string): Promise<void> {
  const params = { type: 'channel', to: 'simulation', topic: 'topic', content } as never;
  const what = `sending ${content}`;
  const { id } = await untilAnswered(clients, what, (gateway) =>
    gateway.request(messagingOperations.sendMessage, params, { ...caller, key: `send ${content}` }),
  );
  clients.seen.sent.push({ realmId: caller.realmId, content, id });
}

export async function change(clients: Clients, caller: Caller, key: string): Promise<void> {
  const full_name = clients.scheduler.random.chance(0.3) ? 'queued' : 'at once';
  const params = { user_id_or_email: String(caller.userId), full_name } as never;
  await untilAnswered(clients, `changing ${caller.userId}`, (gateway) =>
    gateway.request(userOperations.updateUser, params, { ...caller, key }),
  );
  clients.seen.changed.push({ realmId: caller.realmId, userId: caller.userId });
}

/** May be lost, and is not repeated. */
export async function type(clients: Clients, caller: Caller, topic: string): Promise<void> {
  const params = { op: 'start', type: 'channel', stream_id: 1, topic } as never;
  await overHttp(clients, (gateway) => gateway.request(messageChangeOperations.setTyping, params, caller)).catch(
    () => undefined,
  );
}

/** Registers a queue, then follows it until the end of the schedule. */
export async function follow(clients: Clients, caller: Caller, name: string): Promise<void> {
  const { scheduler, seen } = clients;
  const eventTypes = scheduler.random.pick([null, ['message'], allTypes]);
  const params = {
    event_types: eventTypes,
    fetch_event_types: [],
    include_subscribers: 'false',
    slim_presence: true,
    apply_markdown: true,
    client_gravatar: true,
    idle_queue_timeout: 600,
  } as never;
  const state = await untilAnswered(clients, `registering ${name}`, (gateway) =>
    gateway.request(eventQueueOperations.register, params, { ...caller, key: `register ${name}` }),
  );
  const { queue_id, last_event_id } = state as unknown as { queue_id: string; last_event_id: number };
  const { realmId, userId } = caller;
  const follower: Follower = {
    name,
    realmId,
    userId,
    eventTypes,
    queueId: queue_id,
    events: [],
    lastId: last_event_id,
    firstId: last_event_id,
  };
  seen.followers.push(follower);
  for (;;) {
    try {
      await pollOnce(clients, follower);
    } catch (error) {
      if (isViolation(error)) {
        seen.violations.push(`${name} polled after ${follower.lastId} and failed: ${error.stack}`);
        return;
      }
      await scheduler.pause(20 + scheduler.random.next() * 200);
    }
    if (scheduler.random.chance(0.1)) await scheduler.pause(scheduler.random.next() * 300);
  }
}

async function pollOnce(clients: Clients, follower: Follower): Promise<void> {
  const { scheduler, seen } = clients;
  const { realmId, userId, lastId } = follower;
  const dontBlock = scheduler.random.chance(0.1);
  const request = { queueId: follower.queueId ?? '', lastEventId: lastId, dontBlock };
  const { events } = await overHttp(clients, (gateway, isOver) => {
    const hangup = {
      get isOver() {
        return isOver();
      },
      onOver: () => () => undefined,
    };
    return gateway.poll({ realmId, userId }, request, hangup);
  });
  for (const text of events) {
    const event = JSON.parse(text) as { id: number; type: string };
    if (event.type === 'heartbeat') continue;
    if (event.id <= follower.lastId)
      seen.violations.push(`${follower.name} was delivered ${event.id} after ${follower.lastId}`);
    follower.lastId = event.id;
    follower.events.push({ id: event.id, type: event.type, event });
  }
  if (events.length === 0 && dontBlock) await scheduler.pause(50);
}
