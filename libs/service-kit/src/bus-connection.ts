import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';

export interface BusConnection {
  nats: NatsConnection;
  /** Calls `listener` after every reconnect; returns a function that takes it back. */
  onReconnect(listener: () => void): () => void;
}

/** Connects to NATS and stays connected: every outage ends with a reconnect. */
export async function openBusConnection(options: {
  url: string;
  name: string;
  log: Logger;
  metrics: Metrics;
}): Promise<BusConnection> {
  const url = new URL(options.url);
  const nats = await connect({
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : {}),
    name: options.name,
    inboxPrefix: `_INBOX.${options.name}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 200,
    pingInterval: 5_000,
    maxPingOut: 2,
    waitOnFirstConnect: true,
    noAsyncTraces: true,
    ignoreClusterUpdates: true,
  });
  const listeners = new Set<() => void>();
  options.metrics.natsUp.set(1);
  void watchStatus(nats, options.log, options.metrics, listeners);
  return {
    nats,
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function watchStatus(
  connection: NatsConnection,
  log: Logger,
  metrics: Metrics,
  listeners: ReadonlySet<() => void>,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      metrics.natsUp.set(0);
      log.warn('NATS is away');
    }
    // A subject that its user may not publish or hear: the configuration of NATS is not that of this version.
    if (status.type === 'error') log.error({ err: status.error }, 'NATS refused');
    if (status.type === 'reconnect') {
      metrics.natsUp.set(1);
      log.info('NATS is back');
      for (const listener of listeners) listener();
    }
  }
}
