import { ChatError, type Operation, type ServiceName, unavailable, userOperations } from '@natter/contracts';
import { createLanes, type Deadline, pause, untilDeadline, withDeadline } from '@natter/database';
import { type Bus, type CallOptions, type Handlers, JsonPieces, type Logger } from '@natter/service-kit';
import { isWrite } from '../../../libs/service-kit/src/answer-once.ts';
import { createFailureLog } from '../../../libs/service-kit/src/failure-log.ts';
import { createRecovery } from '../../../libs/service-kit/src/recovery.ts';
import type { Freshness } from '../../../libs/service-kit/src/retry-on-changed-versions.ts';
import { type Kept, runHandler } from '../../../libs/service-kit/src/run-handler.ts';
import type { Envelope } from '../../../libs/service-kit/src/wire.ts';
import { latencyOf, type Weather } from '../engine/faults.ts';
import { type Host, runOn } from '../engine/hosts.ts';
import type { Scheduler } from '../engine/scheduler.ts';

/** Stand-in for NATS and the bus on it: hints may be late or lost, and calls may lose their process. */
export interface Broker {
  connect(host: Host, name: string, log: Logger): Bus;
  /** The broker is unreachable for this long. */
  cut(downMs: number): void;
  drop(host: Host): void;
}

interface Subscription {
  host: Host;
  subject: string;
  receive: (payload: Uint8Array, subject: string) => void;
}

interface Serving {
  host: Host;
  service: ServiceName;
  answer(request: Request): Promise<Uint8Array>;
}

interface Request {
  operation: Operation;
  envelope: string;
  call: { id: string; attempt: number };
  deadlineMs: number;
}

interface Client {
  host: Host;
  isUp: boolean;
  /** The time at which the broker has processed all subscriptions so far. */
  settlesAt: number;
  onReconnect: Set<() => void>;
  loseCalls: Set<() => void>;
}

/** After this long without an answer a call is searched for; a process that works on it confirms. */
const lostAfterMs = 900;
const unservedMs = 5_000;
const marginMs = 250;
const noLag = { ms: 0, longMs: 0 };

export function createBroker(scheduler: Scheduler, weather: () => Weather): Broker {
  const { random } = scheduler;
  const subscriptions = new Set<Subscription>();
  const serving = new Set<Serving>();
  const clients = new Map<Host, Client>();
  /** Messages from one process to another arrive in order. */
  const arrivals = new Map<string, number>();
  let upAt = 0;
  let calls = 0;

  const arrivalMs = (from: Host, to: Host): number => {
    const key = `${from.name} ${to.name}`;
    const at = Math.max(scheduler.now() + latencyOf(random, weather()), arrivals.get(key) ?? 0);
    arrivals.set(key, at);
    return at - scheduler.now();
  };
  const isLost = (): boolean => random.chance(weather().nats);

  function connect(host: Host, name: string, log: Logger): Bus {
    const isUp = scheduler.now() >= upAt;
    const client: Client = { host, isUp, settlesAt: 0, onReconnect: new Set(), loseCalls: new Set() };
    clients.set(host, client);
    if (!isUp) scheduler.after(upAt - scheduler.now() + random.next() * 300, host, () => reconnect(client));
    const toChatError = createFailureLog();
    let kept: Kept | undefined;
    const recovery = createRecovery();
    const freshness: Freshness = {
      catchUp: async () => ({ isStale: false, realmVersion: undefined, isComplete: false }),
      permits: undefined,
      units: undefined,
      refreshActor: (actor, meta) =>
        bus.call(userOperations.refreshActor, { user_id: actor.userId, key_id: actor.keyId }, { meta }),
      gates: { hold: (_realmId, _owners, work) => work(), enter: (_, unit) => unit([]) },
      inLane: createLanes(),
    };
    /** Calls in progress in this process: a repetition gets the same answer. */
    const workedOn = new Map<string, Promise<Uint8Array>>();
    const cameAgain = new Set<string>();

    async function answer(handler: Handlers[number], { envelope, call, deadlineMs }: Request): Promise<Uint8Array> {
      const waitsMs = deadlineMs - Math.min(marginMs, deadlineMs / 10);
      return withDeadline(waitsMs, async (deadline) => {
        try {
          const parsed = JSON.parse(envelope) as Envelope;
          const work = { envelope: parsed, handler, call, isRetry: () => call.attempt > 0 || cameAgain.has(call.id) };
          const failedAfterCommit = (error: unknown): void => log.error({ err: error }, 'failed after its commit');
          const running = { freshness, kept, recovery, failedAfterCommit };
          const result = await runHandler(work, running, { deadline, log: () => log });
          if (result instanceof JsonPieces) return Buffer.concat(result.pieces as Uint8Array[]);
          return Buffer.from(JSON.stringify(result ?? {}));
        } catch (error) {
          throw toChatError(error, handler.operation, () => log);
        }
      });
    }

    /** One attempt of a call. `unserved`: no process serves the operation; `lost`: no process works on the call any more. */
    function attempt(request: Request, isWatched: boolean): Promise<Uint8Array | 'unserved' | 'lost'> {
      const { operation, call } = request;
      const others = [...serving].filter((one) => one.service === operation.service && isReachable(one.host));
      if (!client.isUp) return new Promise((resolve) => loseWith(client, () => resolve('lost')));
      if (others.length === 0) return Promise.resolve('unserved');
      const server = random.pick(others);
      return new Promise((resolve, reject) => {
        const lose = isWatched ? () => resolve('lost') : () => undefined;
        loseWith(client, lose);
        const look = (): void => {
          const isWorking = isReachable(server.host) && server.host.hangsUntil <= scheduler.now();
          if (isWorking && isTaken) scheduler.after(lostAfterMs, host, look);
          else lose();
        };
        let isTaken = false;
        scheduler.after(lostAfterMs * (0.7 + random.next()), host, look);
        if (isLost()) return;
        scheduler.after(arrivalMs(host, server.host), server.host, () => {
          if (!isReachable(server.host)) return;
          isTaken = true;
          const reply = (settle: () => void): void => {
            isTaken = false;
            if (isLost() || !isReachable(server.host)) return;
            scheduler.after(arrivalMs(server.host, host), host, () => client.isUp && settle());
          };
          server.answer({ ...request, call: { ...call } }).then(
            (bytes) => reply(() => resolve(bytes)),
            (error: unknown) => reply(() => reject(error as Error)),
          );
        });
      });
    }

    async function request(operation: Operation, envelope: Envelope, deadline: Deadline): Promise<Uint8Array> {
      const id = `call${++calls}`;
      const text = JSON.stringify(envelope);
      const isWatched = operation.isReadOnly || (name === 'gateway' && isWrite(operation));
      const begunAt = scheduler.now();
      for (let sent = 0; ; ) {
        deadline.check();
        const sending = { operation, envelope: text, call: { id, attempt: sent }, deadlineMs: deadline.remainingMs() };
        const outcome = await untilDeadline(attempt(sending, isWatched), deadline);
        if (typeof outcome !== 'string') return outcome;
        if (deadline.remainingMs() <= 100) throw unavailable(new Error(outcome));
        if (outcome === 'lost') sent++;
        else if (scheduler.now() - begunAt > unservedMs) throw unavailable(new Error('nobody serves it'));
        await pause(30 + random.next() * 70);
      }
    }

    const callBytes = (operation: Operation, params: unknown, { actor, meta, timeoutMs }: CallOptions) =>
      withDeadline(timeoutMs ?? operation.deadlineMs, (deadline) =>
        request(operation, { actor, meta, params }, deadline),
      );

    const bus: Pick<Bus, 'call' | 'callBytes' | 'callPieces'> = {
      call: async (operation, params, options) =>
        JSON.parse(Buffer.from(await callBytes(operation, params, options)).toString()) as never,
      callBytes: async (operation, params, options) => [await callBytes(operation, params, options)],
      callPieces: async (operation, params, options) => [await callBytes(operation, params, options)],
    };

    return {
      ...bus,
      servicesLag: () => noLag,
      unreportedCosts: () => new Map(),
      lag: () => noLag,
      publish: (subject, payload) => publish(client, subject, Buffer.from(payload)),
      subscribe: (subject, receive) => {
        const subscription = { host, subject, receive };
        const latency = latencyOf(random, weather());
        client.settlesAt = Math.max(client.settlesAt, scheduler.now() + latency);
        const forget = scheduler.after(latency, host, () => subscriptions.add(subscription));
        return () => {
          forget();
          subscriptions.delete(subscription);
        };
      },
      ping: async () => undefined,
      flush: () => whenUp(client),
      onReconnect: (listener) => {
        client.onReconnect.add(listener);
        return () => client.onReconnect.delete(listener);
      },
      drain: async () => undefined,
      async serve(service, handlers) {
        const byName = new Map(handlers.map((handler) => [handler.operation.name, handler]));
        await whenUp(client);
        serving.add({
          host,
          service,
          answer: (asked) => {
            const key = asked.call.id;
            const handler = byName.get(asked.operation.name);
            if (!handler) return Promise.reject(new ChatError('INTERNAL_ERROR', `no ${asked.operation.name} here`));
            const before = workedOn.get(key);
            if (before) {
              cameAgain.add(key);
              return before;
            }
            const answering = answer(handler, asked).finally(() => workedOn.delete(key));
            workedOn.set(key, answering);
            return answering;
          },
        });
      },
      useCatchUp: (catchUp) => {
        freshness.catchUp = catchUp;
      },
      useGates: (gates) => {
        freshness.gates = gates;
      },
      usePermits: (permits) => {
        freshness.permits = permits;
      },
      useActors: (refreshActor) => {
        freshness.refreshActor = refreshActor;
      },
      useWrites: ({ units, answers, fingerprint }) => {
        freshness.units = units;
        kept = { answers, fingerprint };
      },
      announce: async () => undefined,
      retire: async () => undefined,
    };
  }

  const isReachable = (host: Host): boolean => !host.hasCrashed && (clients.get(host)?.isUp ?? false);

  function loseWith({ loseCalls }: Client, lose: () => void): void {
    loseCalls.add(lose);
  }

  function publish({ host, isUp }: Client, subject: string, payload: Uint8Array): void {
    if (host.hasCrashed || !isUp || scheduler.now() < upAt) return;
    for (const subscription of subscriptions) {
      if (!matches(subscription.subject, subject) || !isReachable(subscription.host) || isLost()) continue;
      scheduler.after(arrivalMs(host, subscription.host), subscription.host, () => {
        if (subscriptions.has(subscription) && isReachable(subscription.host)) subscription.receive(payload, subject);
      });
    }
  }

  /** Resolves when the broker answers a request. */
  function whenUp(client: Client): Promise<void> {
    return new Promise((resolve) => {
      const ask = (): void => {
        const ms = Math.max(latencyOf(random, weather()) * 2, client.settlesAt - scheduler.now());
        if (client.isUp) scheduler.after(ms, client.host, resolve);
        else scheduler.after(100, client.host, ask);
      };
      ask();
    });
  }

  return {
    connect,
    cut(downMs) {
      upAt = scheduler.now() + downMs;
      for (const client of clients.values()) {
        client.isUp = false;
        scheduler.after(downMs + 100 + random.next() * 300, client.host, () => reconnect(client));
      }
    },
    drop(host) {
      clients.delete(host);
      for (const one of serving) if (one.host === host) serving.delete(one);
      for (const one of subscriptions) if (one.host === host) subscriptions.delete(one);
    },
  };

  function reconnect(client: Client): void {
    if (scheduler.now() < upAt) return;
    client.isUp = true;
    runOn(client.host, () => {
      for (const lose of client.loseCalls) scheduler.after(200 + random.next() * 700, client.host, lose);
      client.loseCalls.clear();
      for (const listener of [...client.onReconnect]) listener();
    });
  }
}

const matches = (pattern: string, subject: string): boolean =>
  pattern === subject || (pattern.endsWith('.*') && subject.startsWith(pattern.slice(0, -1)));
