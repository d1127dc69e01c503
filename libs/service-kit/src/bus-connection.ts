import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { unavailable } from '@natter/contracts';
import { pause } from '@natter/database';
import type { Logger } from './logging.ts';
import type { Metrics } from './metrics.ts';

export interface BusConnection {
  nats: NatsConnection;
  /** Calls `listener` after every reconnect; returns a function that removes it. */
  onReconnect(listener: () => void): () => void;
}

export interface BusOptions {
  url: string;
  name: string;
  log: Logger;
  metrics: Metrics;
  /** Whether to fail if NATS is unreachable now, or refuses the user, instead of waiting until it accepts them. */
  failsAtOnce?: boolean;
}

/** Connects to NATS and reconnects after every outage. */
export async function openBusConnection(options: BusOptions): Promise<BusConnection> {
  const url = new URL(options.url);
  const waiting = setInterval(() => options.log.warn('no connection to NATS yet: unreachable, or refused'), 10_000);
  const nats = await connect({
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(url.username ? { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } : {}),
    name: options.name,
    inboxPrefix: `_INBOX.${options.name}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 200,
    // A connection that breaks without notice is replaced after four or five seconds, before the requests that wait for
    // it reach their deadlines.
    pingInterval: 1_000,
    maxPingOut: 3,
    // An attempt that began while the network was cut would wait longer than a new one.
    timeout: 5_000,
    waitOnFirstConnect: options.failsAtOnce !== true,
    noAsyncTraces: true,
    ignoreClusterUpdates: true,
    // A busy machine can answer too late to log in. Without this, the second such failure of a process would end its
    // connection for good, while the process lives on.
    ignoreAuthErrorAbort: true,
  }).finally(() => clearInterval(waiting));
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

/** Resolves when the server has processed the subscriptions made so far. After a reconnect it waits again. */
export async function flushed(nats: NatsConnection, patienceMs: number): Promise<void> {
  for (const end = performance.now() + patienceMs; ; ) {
    try {
      return await nats.flush();
    } catch (error) {
      if (nats.isClosed() || performance.now() > end) throw unavailable(error);
      await pause(50);
    }
  }
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
      log.warn('connection to NATS lost');
    }
    if (status.type === 'error') logRefusal(status.error, log);
    if (status.type === 'reconnect') {
      metrics.natsUp.set(1);
      log.info('connection to NATS restored');
      for (const listener of listeners) listener();
    }
  }
}

function logRefusal(error: Error, log: Logger): void {
  // This process did not answer pings in time, for example on a busy machine. It reconnects.
  if (/stale connection|authentication timeout/i.test(error.message))
    log.warn({ err: error }, 'NATS ended a connection that did not answer');
  // The user may not publish or subscribe to a subject: the NATS configuration is from another version.
  else log.error({ err: error }, 'NATS refused a subject');
}
