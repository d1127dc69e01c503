import { type ServiceProgram, userOperations } from '@natter/contracts';
import { createBlocks } from './blocks.ts';
import { type BusClient, createBusClient } from './bus-client.ts';
import { type BusOptions, flushed, openBusConnection } from './bus-connection.ts';
import { type BusServer, createBusServer } from './bus-server.ts';
import { type Lag, startLagMeter, worstOf } from './lag.ts';
import { watchLostCalls } from './lost-calls.ts';
import { type Pinged, ping } from './ping.ts';
import { subscribe } from './subscribe.ts';

export type { CallOptions } from './bus-client.ts';
export * from './handlers.ts';
export type { Lag } from './lag.ts';
export { nameOnNats, usageSubject } from './wire.ts';

/** Requests between services and hints, over one connection to NATS. */
export interface Bus extends BusClient, BusServer {
  publish(subject: string, payload: string | Uint8Array): void;
  subscribe(subject: string, receive: (payload: Uint8Array, subject: string) => void): () => void;
  /**
   * Whether processes of a service are alive. Undefined if none answers. Waits 1.5 s for the first answer, and 0.3 s
   * after each one.
   */
  ping(name: ServiceProgram): Promise<Pinged | undefined>;
  /** The highest lag of the event loops of this process and of services that it called recently. */
  lag(): Lag;
  /**
   * Resolves when the server has processed the subscriptions made so far. Rejects with SERVICE_UNAVAILABLE after some
   * seconds without the server.
   */
  flush(): Promise<void>;
  /** Calls `listener` after every reconnect; returns a function that removes it. */
  onReconnect(listener: () => void): () => void;
  drain(): Promise<void>;
}

/** How long an outage of NATS may delay `flush`. */
const flushMs = 5_000;

export async function connectBus(options: BusOptions): Promise<Bus> {
  const { log, metrics, name } = options;
  const { nats, onReconnect } = await openBusConnection(options);
  const blocks = createBlocks(nats, name, log);
  const lost = watchLostCalls(nats, name, log);
  onReconnect(() => lost.reconnected());
  const client = createBusClient(nats, blocks, lost, name);
  const lag = startLagMeter();
  const server = createBusServer({
    nats,
    blocks,
    log,
    metrics,
    lag,
    refreshActor: (actor, meta) =>
      client.call(userOperations.refreshActor, { user_id: actor.userId, key_id: actor.keyId }, { meta }),
  });
  return {
    ...client,
    ...server,
    lag: () => worstOf([lag.current(), client.servicesLag()]),

    publish: (subject, payload) => {
      try {
        nats.publish(subject, payload);
      } catch (error) {
        // Only a hint is lost: readers poll the log.
        log.debug({ err: error, subject }, 'publish failed');
      }
    },

    subscribe: (subject, receive) => {
      const subscription = subscribe(nats, subject, log, (message) => receive(message.data, message.subject));
      return () => subscription.unsubscribe();
    },

    ping: (name) => ping(nats, name),
    flush: () => flushed(nats, flushMs),
    onReconnect,
    drain: async () => {
      await server.retire();
      await nats.drain().catch(() => undefined);
    },
  };
}
