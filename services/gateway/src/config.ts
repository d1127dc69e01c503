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
  NATTER_RATE_LIMIT: z.coerce.number().int().default(200).describe('Requests a minute and user, each by its weight'),
  NATTER_RATE_LIMIT_ANONYMOUS: z.coerce
    .number()
    .int()
    .default(100)
    .describe('Requests a minute and network (an IPv4 address or an IPv6 /64), without authentication'),
  NATTER_RATE_LIMIT_ANONYMOUS_FILES: z.coerce
    .number()
    .int()
    .min(1)
    .default(500)
    .describe('Uploaded files a minute and network without authentication, one for each begun MiB'),
  NATTER_RATE_LIMIT_REALM: z.coerce
    .number()
    .int()
    .optional()
    .describe('Requests a minute and organization, polls aside; without it 500 times those of a user'),
  NATTER_LOG_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(128)
    .describe('Recent events (as JSON) that a gateway keeps in memory; older ones are read from Redis'),
  NATTER_BODY_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(16)
    .default(256)
    .describe('Request bodies that a gateway holds in memory at a time; more are answered with 503'),
  NATTER_BODY_MEMORY_PER_CALLER_MIB: z.coerce
    .number()
    .int()
    .min(2)
    .default(64)
    .describe(
      'The part of it that one user, or one address without authentication, may hold, at least the largest upload; more is answered with 429',
    ),
  NATTER_MAX_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('Most open connections of a gateway; further ones are closed'),
  NATTER_MAX_CONNECTIONS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .default(1_000)
    .describe('Most open connections from one address (IPv6: one /64 network); trusted proxies are exempt'),
  NATTER_HEADERS_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(15)
    .describe('Time to send the headers of a request, also on a new connection'),
  NATTER_REQUEST_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(600)
    .describe('Time to send a whole request with its body'),
  NATTER_KEEP_ALIVE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(75)
    .describe('How long a connection stays open between two requests'),
  NATTER_STALL_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(20)
    .describe('How long a client may stop sending its body or reading its answer before its connection is closed'),
  NATTER_MIN_BYTES_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(1_024)
    .describe('Request bodies that arrive more slowly are refused with 408'),
});

export type GatewayConfig = z.output<typeof gatewayConfig>;
