import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

export const canaryConfig = commonConfig
  .pick({ NATTER_LOG_LEVEL: true, NATTER_OPERATIONS_HOST: true, NATTER_OPERATIONS_PORT: true })
  .extend({
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
  });
