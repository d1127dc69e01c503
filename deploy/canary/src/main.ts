import {
  createLogger,
  createMetrics,
  readConfig,
  startOperationsServer,
  surviveUnhandledErrors,
} from '@natter/service-kit';
import { startCanary } from './canary.ts';
import { canaryConfig } from './config.ts';

const config = readConfig(canaryConfig, process.env);
const log = createLogger('canary', config.NATTER_LOG_LEVEL);
const metrics = createMetrics('canary');
surviveUnhandledErrors(metrics, log);
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
