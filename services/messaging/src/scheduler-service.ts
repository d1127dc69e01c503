import { type Database, deleteInBatches, sql } from '@natter/database';
import { createRealmPolicies, createUserVisibility } from '@natter/realm-policy';
import {
  commonConfig,
  durationSetting,
  Histogram,
  type Logger,
  openOwner,
  type Process,
  type Running,
  repeat,
  type Stop,
  timerSetting,
} from '@natter/service-kit';
import { z } from 'zod';
import { readLeftChannels } from './message-flags/left-channels.ts';
import { createAuthors } from './model/authors.ts';
import { createChannelAccess } from './model/channel-access.ts';
import { createChannelCache } from './model/channel-cache.ts';
import { createMessageAccess } from './model/message-access.ts';
import { reachable } from './model/outgoing/public-address.ts';
import { onSchedulerHint } from './model/scheduler-hint.ts';
import { createDecideSend } from './model/sending/decide-planned.ts';
import { startOutgoingWebhooks } from './outgoing-webhooks/outgoing-webhooks.ts';
import { applyRetention } from './retention/retention.ts';
import { askOnce } from './scheduled-messages/ask-once.ts';
import { createDelivery } from './scheduled-messages/deliver.ts';
import { startDueLoop } from './scheduled-messages/due-loop.ts';
import { makeNoticesDue } from './scheduled-messages/make-notices-due.ts';
import { startIndexing } from './search/indexing.ts';

export const schedulerConfig = commonConfig.extend({
  NATTER_SCHEDULED_MAX_LATENESS_SECONDS: z
    .preprocess((given) => (given === '' ? undefined : given), durationSetting('seconds').min(0).optional())
    .describe(
      'Scheduled messages that are later than this after an outage fail; without it they are sent however late',
    ),
  NATTER_RETENTION_INTERVAL_SECONDS: timerSetting('seconds')
    .min(1)
    .default(600)
    .describe('Interval of the search for messages older than the retention of their realm or channel'),
  NATTER_OUTGOING_WEBHOOK_NETWORKS: z
    .string()
    .default('')
    .describe(
      'Internal addresses or CIDRs, by commas, that messages may be posted to for outgoing webhook bots; without it only to the public internet',
    ),
});
type SchedulerConfig = z.output<typeof schedulerConfig>;

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * The timed work of messaging: sends scheduled messages, deletes expired data, indexes messages again, and marks messages as read
 * for users who left channels.
 */
export async function startScheduler(process: Process<SchedulerConfig>): Promise<Running> {
  const { bus, config, log, metrics } = process;
  const owner = openOwner(process, 'messaging');
  const lateness = new Histogram({
    name: 'natter_scheduler_lateness_seconds',
    help: 'From the time a message was due to the transaction that sent it',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600],
    registers: [metrics.registry],
  });
  const channels = createChannelCache(bus);
  const policies = createRealmPolicies(bus);
  const userVisibility = createUserVisibility(bus);
  const authors = createAuthors(bus);
  const decidingOn = (database: Database) => {
    const access = createChannelAccess(channels, database);
    return { database, renderer: owner.renderer, channels, access, policies, userVisibility, authors };
  };
  const sending = decidingOn(owner.database);
  const deliver = createDelivery({
    database: owner.database,
    background: owner.background,
    authors,
    deciding: () => createDecideSend(decidingOn(askOnce(owner.database))),
    maxLatenessSeconds: config.NATTER_SCHEDULED_MAX_LATENESS_SECONDS,
    onSent: (seconds) => lateness.observe(Math.max(seconds, 0)),
    onError: (error, context) => log.warn({ err: error, ...context }, 'delivery of scheduled messages failed'),
  });
  const loop = startDueLoop({
    database: owner.database,
    deliver,
    onError: (error) => log.warn({ err: error }, 'reading due messages failed'),
  });
  const webhooks = startOutgoingWebhooks(process, {
    ...owner,
    bus,
    authors,
    messages: createMessageAccess(sending.access),
    policies,
    userVisibility,
    decideSend: createDecideSend(sending),
    rules: reachable(config.NATTER_OUTGOING_WEBHOOK_NETWORKS),
  });
  const stopListening = onSchedulerHint(bus, (dueSeconds) => {
    loop.hint(dueSeconds);
    webhooks.hint();
  });
  await bus.announce('scheduler');
  const stopSweeps = startSweeps(owner.database, log);
  const retention = { ...owner, channels, policies, readsOn: onceADay(), sizes: new Map<string, number>() };
  const onRetentionError = (error: unknown, place?: object): void =>
    log.warn({ err: error, ...place }, 'retention could not be applied');
  const stopRetention = repeat(
    { everyMs: config.NATTER_RETENTION_INTERVAL_SECONDS * 1_000, onError: onRetentionError },
    (isStopped) => applyRetention(retention, isStopped, onRetentionError),
  );
  const stopIndexing = startIndexing(owner.database, (error) =>
    log.warn({ err: error }, 'messages could not be indexed again'),
  );
  const stopReading = readLeftChannels(owner, (error, user) =>
    log.warn({ err: error, ...user }, 'messages of channels that a user left could not be marked as read'),
  );
  return {
    stop: () =>
      owner.close(stopListening, loop.stop, webhooks.stop, stopRetention, stopIndexing, stopReading, ...stopSweeps),
  };
}

/** Returns a function that returns true at its first call, and then once a day. */
function onceADay(): () => boolean {
  let nextAt = 0;
  return () => {
    if (performance.now() < nextAt) return false;
    nextAt = performance.now() + 24 * hourMs;
    return true;
  };
}

function startSweeps(database: Database, log: Logger): Stop[] {
  const failed =
    (what: string) =>
    (error: unknown): void =>
      log.warn({ err: error }, `${what} failed`);
  return [
    repeat({ everyMs: hourMs, onError: failed('deleting sent messages') }, (isStopped) =>
      forgetEnded(database, isStopped),
    ),
    repeat({ everyMs: minuteMs, onError: failed('correcting the times of notices') }, () => makeNoticesDue(database)),
  ];
}

/** Deletes rows of messages that were sent a week ago, and notices that schedulers of an earlier release left as failed. */
export const forgetEnded = (database: Database, isStopped: () => boolean): Promise<void> =>
  deleteInBatches(
    database,
    'messaging.scheduled_message',
    sql.fragment`(state = 'sent' AND sent_at < now() - interval '7 days') OR (state = 'failed' AND kind = 'notice')`,
    isStopped,
  );
