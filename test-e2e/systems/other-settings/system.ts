import type { System } from '@natter/local/system';
import { type MailServer, startMailServer } from '../../mail-server.ts';
import { openSystem } from '../../open-system.ts';
import { type Collector, startCollector } from './collector.ts';

export let system: System;
export let mails: MailServer;
export let collector: Collector;

const anonymousLimit = 1_000;

/** A system with all settings that can differ from the defaults without affecting other tests. */
export async function start(): Promise<void> {
  [mails, collector] = await Promise.all([startMailServer(), startCollector()]);
  system = await openSystem({
    env: {
      NATTER_RATE_LIMIT_ANONYMOUS: String(anonymousLimit),
      NATTER_SMTP_URL: mails.url,
      NATTER_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      NATTER_TRACE_RATIO: '1',
      // Below the default of NATTER_HEADERS_TIMEOUT_SECONDS.
      NATTER_REQUEST_TIMEOUT_SECONDS: '14',
      CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: 'true',
    },
  });
}

export async function stop(): Promise<void> {
  await system?.stop();
  await mails?.stop();
  collector?.stop();
}
