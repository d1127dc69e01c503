import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

export const gatewayConfig = commonConfig.extend({
  NATTER_HTTP_HOST: z.string().default('127.0.0.1').describe('Where the API listens'),
  NATTER_HTTP_PORT: z.coerce.number().int().default(9991).describe('Port of the API'),
  NATTER_REUSE_PORT: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Several gateways of one machine share the port'),
  NATTER_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe('Proxies in front whose X-Forwarded-For and -Host are believed: addresses or CIDRs, by commas'),
  NATTER_RATE_LIMIT: z.coerce.number().int().default(200).describe('Requests a minute and user'),
  NATTER_RATE_LIMIT_ANONYMOUS: z.coerce
    .number()
    .int()
    .default(100)
    .describe('Requests a minute and address, without authentication'),
  NATTER_RATE_LIMIT_LOGIN: z.coerce
    .number()
    .int()
    .default(5)
    .describe('Wrong passwords in half an hour and username before no more are tried'),
  NATTER_LOG_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(128)
    .describe('Recent events (as JSON) that a gateway keeps in memory; older ones are read from Redis'),
});

export type GatewayConfig = z.output<typeof gatewayConfig>;
