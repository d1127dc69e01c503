import { commonConfig, timerSetting } from '@natter/service-kit';
import { z } from 'zod';

export const gatewayConfig = commonConfig.extend({
  NATTER_HTTP_HOST: z.string().default('127.0.0.1').describe('Address on which the API listens'),
  NATTER_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(9991).describe('Port of the API'),
  NATTER_HTTP_FD: z
    .string()
    .regex(/^\d+(,\d+)*$/, 'is not a list of numbers')
    .transform((list) => list.split(',').map(Number))
    .refine((fds) => fds.every((fd) => fd >= 3), 'has a number below 3')
    .optional()
    .describe(
      'Descriptors, separated by commas, of one bound socket that the process inherits and on which the API listens, instead of an address and a port. At each, a turn of the event loop accepts one connection. Gateways of one machine can share the socket: connections that none has accepted wait as long as any process has it open',
    ),
  NATTER_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe(
      'Proxies whose X-Forwarded-For and X-Forwarded-Host headers are trusted: addresses or CIDRs, separated by commas',
    ),
  NATTER_RATE_LIMIT: z.coerce
    .number()
    .int()
    .min(1)
    .default(200)
    .describe('Requests per minute and user, counted by weight'),
  NATTER_RATE_LIMIT_ANONYMOUS: z.coerce
    .number()
    .int()
    .min(1)
    .default(100)
    .describe('Unauthenticated requests per minute and network (an IPv4 address or an IPv6 /64)'),
  NATTER_RATE_LIMIT_ANONYMOUS_FILES: z.coerce
    .number()
    .int()
    .min(1)
    .default(500)
    .describe('Unauthenticated downloads of uploaded files per minute and network, one for each started MiB'),
  NATTER_RATE_LIMIT_REALM: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Requests per minute and organization, without polls; default 500 times the limit of a user'),
  NATTER_QUIET_LAG_MS: z.coerce
    .number()
    .positive()
    .max(3_600_000)
    .default(0.5)
    .describe(
      'Mean time that messages wait because of long turns of event loops, above which the organization that uses most is held back while others are served',
    ),
  NATTER_LOG_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(128)
    .describe(
      'Memory of the recent events that a gateway keeps, a quarter of it for their texts for clients; older ones are read from Redis',
    ),
  NATTER_BODY_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(16)
    .default(256)
    .describe(
      'Maximum size of all request bodies in the memory of a gateway; one organization may use half of what others leave. Where memory is missing, connections with slow bodies of those who use most are closed, and then requests are answered with 503',
    ),
  NATTER_BODY_MEMORY_PER_CALLER_MIB: z.coerce
    .number()
    .int()
    .min(2)
    .default(64)
    .describe(
      'The part of it that one user, or one network without authentication (an IPv4 address or an IPv6 /48), may hold, at least the largest upload; more is answered with 429',
    ),
  NATTER_ANSWER_MEMORY_MIB: z.coerce
    .number()
    .int()
    .min(16)
    .default(256)
    .describe(
      'Maximum size of the responses in the memory of a gateway that clients have not read. One user, or one network without authentication (an IPv4 address or an IPv6 /48), may use a quarter; more is answered with 429. One organization may use half of what others leave; above that its slowest connections are closed, and then requests are answered with 503',
    ),
  NATTER_MAX_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('Maximum number of open connections of a gateway; further ones are closed'),
  NATTER_MAX_CONNECTIONS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .default(1_000)
    .describe(
      'Maximum number of open connections from one address (IPv6: one /64 network; a /48 network may have a quarter of all connections, or as many as one address if that is more); trusted proxies are exempt',
    ),
  NATTER_HEADERS_TIMEOUT_SECONDS: timerSetting('seconds')
    .min(1)
    .default(15)
    .describe(
      'Maximum time for the headers of a request, also on a new connection; at most NATTER_REQUEST_TIMEOUT_SECONDS',
    ),
  NATTER_REQUEST_TIMEOUT_SECONDS: timerSetting('seconds')
    .min(1)
    .default(600)
    .describe('Maximum time for a whole request with its body'),
  NATTER_KEEP_ALIVE_SECONDS: timerSetting('seconds')
    .min(1)
    .default(75)
    .describe('How long a connection stays open between two requests'),
  NATTER_STALL_SECONDS: timerSetting('seconds')
    .min(1)
    .default(20)
    .describe(
      'How long a client may pause while it sends its body or reads its answer before the connection is closed',
    ),
  NATTER_MIN_BYTES_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(1_024)
    .describe('Minimum rate of request bodies; slower ones are refused with 408'),
});

export type GatewayConfig = z.output<typeof gatewayConfig>;
