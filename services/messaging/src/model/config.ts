import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

export const messagingConfig = commonConfig.extend({
  NATTER_EXTERNAL_CONTENT_MAX_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(10)
    .describe('Largest image or video of another site that is shown in messages'),
  NATTER_EXTERNAL_CONTENT_CACHE_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(64)
    .describe(
      'Images and videos of other sites that a messaging process keeps in memory; when it is full, organizations with most of it lose theirs first',
    ),
  NATTER_EXTERNAL_CONTENT_NETWORKS: z
    .string()
    .default('')
    .describe(
      'Internal addresses or CIDRs, by commas, that images and pages linked in messages may be fetched from; without it only from the public internet',
    ),
});
export type MessagingConfig = z.output<typeof messagingConfig>;
