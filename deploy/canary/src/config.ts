import { commonConfig, durationSetting, timerSetting } from '@natter/service-kit';
import { z } from 'zod';

export const canaryConfig = commonConfig
  .pick({ NATTER_LOG_LEVEL: true, NATTER_OPERATIONS_HOST: true, NATTER_OPERATIONS_PORT: true })
  .extend({
    NATTER_CANARY_URL: z.url().describe('Address of Natter as clients use it'),
    NATTER_CANARY_EMAIL: z.string().describe("Address of the canary's user"),
    NATTER_CANARY_API_KEY: z.string().describe('API key of that user'),
    NATTER_CANARY_INTERVAL_MS: timerSetting('milliseconds').min(500).default(10_000).describe('Pause between messages'),
    NATTER_CANARY_PATIENCE_MS: durationSetting('milliseconds')
      .min(1_000)
      .default(15_000)
      .describe('Time after which an acknowledged message that has not arrived counts as undelivered'),
  });
