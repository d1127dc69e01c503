import { commonConfig, createLogger, createMetrics, readConfig, startOperationsServer } from '@natter/service-kit';
import { z } from 'zod';
import { startCanary } from './canary.ts';

const config = readConfig(
  commonConfig.pick({ NATTER_LOG_LEVEL: true, NATTER_OPERATIONS_HOST: true, NATTER_OPERATIONS_PORT: true }).extend({
    NATTER_CANARY_URL: z.url().describe('Where clients reach Natter: the same way in as theirs'),
    NATTER_CANARY_EMAIL: z.string().describe('A user of its own'),
    NATTER_CANARY_API_KEY: z.string().describe('The key of that user'),
    NATTER_CANARY_INTERVAL_MS: z.coerce.number().int().min(500).default(10_000).describe('Pause between messages'),
    NATTER_CANARY_PATIENCE_MS: z.coerce
      .number()
      .int()
      .min(1_000)
      .default(15_000)
      .describe('When an acknowledged message that has not come counts as undelivered'),
  }),
  process.env,
);
const log = createLogger('canary', config.NATTER_LOG_LEVEL);
const metrics = createMetrics('canary');
const readiness = { isStarted: true, isDraining: false };
const operations = await startOperationsServer(
  config.NATTER_OPERATIONS_HOST,
  config.NATTER_OPERATIONS_PORT,
  readiness,
  metrics.registry,
);
const canary = startCanary(
  {
    url: config.NATTER_CANARY_URL.replace(/\/$/, ''),
    email: config.NATTER_CANARY_EMAIL,
    apiKey: config.NATTER_CANARY_API_KEY,
    intervalMs: config.NATTER_CANARY_INTERVAL_MS,
    patienceMs: config.NATTER_CANARY_PATIENCE_MS,
  },
  log,
  metrics,
);
log.info({ operationsPort: operations.port, url: config.NATTER_CANARY_URL }, 'ready');
await new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
});
await canary.stop();
await operations.close();
process.exit(0);
