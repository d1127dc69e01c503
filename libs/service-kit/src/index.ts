/**
 * Shared by every process: config from the environment, logs, bus endpoints, probes, metrics, drain. `runService` is
 * the whole of a `main.ts`; everything else can be used without it.
 */
export {
  addCost,
  Counts,
  currentDeadline,
  overloaded,
  type Tenant,
  tenantWithoutAccount,
  untilDeadline,
  WaitingTasks,
  wideNetwork,
  withDeadline,
} from '@natter/database';
export { scheduledSubject } from '@natter/event-log';
export { authorize, type Permits } from './authorize.ts';
export { apartFromRequest, besideWrite } from './beside-write.ts';
export { keptBlockBytes } from './blocks.ts';
export * from './bus.ts';
export { createCatchUp } from './catch-up.ts';
export * from './config.ts';
export { type Idle, measureCost, withoutCharge } from './cost.ts';
export { Decaying } from './decaying.ts';
export { durationSetting, timerSetting } from './duration-settings.ts';
export * from './heap-bytes.ts';
export * from './json-pieces.ts';
export * from './local-counts.ts';
export * from './logging.ts';
export * from './metrics.ts';
export * from './nats-users.ts';
export * from './operations-server.ts';
export * from './owner.ts';
export * from './owner-metrics.ts';
export * from './page-of-bytes.ts';
export * from './redis-users.ts';
export { release } from './release.ts';
export * from './repeat.ts';
export * from './run-service.ts';
export * from './shared-cache.ts';
export { createSharedCalls } from './shared-calls.ts';
export { type ProcessWatch, watchProcess } from './standstills.ts';
export * from './stop-all.ts';
export { inSpan, spanOfDelivery } from './tracing.ts';
export { surviveUnhandledErrors } from './unhandled.ts';
export type { Writing } from './writes.ts';
