/**
 * What every process shares: config from the environment, logs, bus endpoints, probes, metrics, drain.
 * `runService` is the whole of a `main.ts`; everything else can be used without it.
 */
export { currentDeadline, type Deadline, FairQueue, withDeadline } from '@natter/database';
export { scheduledSubject } from '@natter/event-log';
export type { Fingerprint } from './answer-once.ts';
export * from './bus.ts';
export * from './config.ts';
export * from './file-store.ts';
export * from './json-pieces.ts';
export * from './local-counts.ts';
export * from './logging.ts';
export * from './metrics.ts';
export * from './nats-users.ts';
export * from './operations-server.ts';
export * from './owner.ts';
export * from './owner-metrics.ts';
export * from './realm-policy.ts';
export * from './redis-users.ts';
export * from './run-service.ts';
export * from './sight.ts';
export { activeTrace, inSpan, spanOfDelivery } from './tracing.ts';
export { surviveUnhandledErrors } from './unhandled.ts';
