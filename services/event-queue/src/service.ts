import { commonConfig, durationSetting, type Owner, openOwner, type Process, type Running } from '@natter/service-kit';
import { z } from 'zod';
import { startExpiry } from './expiry.ts';
import { getLogKeysHandlers } from './get-log-keys.ts';
import { createNewEpochs } from './new-epoch.ts';
import { endQueuesOfUsers, queueHandlers } from './queues.ts';
import { readLogHandlers } from './read-log.ts';
import { registerHandlers } from './register.ts';
import { startRetention } from './retention.ts';
import { startSweep } from './sweep.ts';
import { createSweepMetrics } from './sweep-metrics.ts';

export const eventQueueConfig = commonConfig.extend({
  NATTER_QUEUES_PER_USER: z.coerce
    .number()
    .int()
    .min(1)
    .default(1_000)
    .describe(
      'Maximum number of active event queues of a user; all bots of one owner together have at most five times as many',
    ),
  NATTER_LOG_RETENTION_HOURS: durationSetting('hours')
    .min(1)
    .default(72)
    .describe(
      'How long events are kept at least, outages not counted, and up to a day longer; also the longest time a queue may go without a poll',
    ),
});
type Config = z.output<typeof eventQueueConfig>;

/** Registers queues, expires them, keeps the log in Redis complete, and reads older entries from the record. */
export const startEventQueue = (process: Process<Config>): Promise<Running> =>
  serveEventQueue(process, openOwner(process, 'event_queue'));

export async function serveEventQueue(process: Process<Config>, owner: Owner): Promise<Running> {
  const measured = createSweepMetrics(process.metrics);
  const beginEpoch = createNewEpochs(owner, process, measured);
  const sweep = startSweep(owner, process, { measured, beginEpoch });
  const expiry = startExpiry(owner, process, measured);
  const retention = startRetention(owner.database, { ...process, hours: process.config.NATTER_LOG_RETENTION_HOURS });
  endQueuesOfUsers(owner, process.bus);
  await process.bus.serve('event-queue', [
    ...registerHandlers(owner, process.bus, {
      queuesPerUser: process.config.NATTER_QUEUES_PER_USER,
      maxIdleSeconds: process.config.NATTER_LOG_RETENTION_HOURS * 3_600,
    }),
    ...queueHandlers(owner, process.bus),
    ...readLogHandlers(owner, { log: process.log, beginEpoch }),
    ...getLogKeysHandlers(owner),
  ]);
  return {
    stop: () => owner.close(sweep.stop, expiry.stop, retention.stop),
  };
}
