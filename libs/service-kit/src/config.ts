import { z } from 'zod';
import { timerSetting } from './duration-settings.ts';

/** Settings that every process has. */
export const commonConfig = z.object({
  NATTER_NATS_URL: z.string().describe('NATS, with credentials'),
  NATTER_REDIS_URL: z.string().describe('Redis, with credentials'),
  NATTER_POSTGRES_URL: z.string().optional().describe('Postgres, with the credentials of this service'),
  NATTER_OPERATIONS_HOST: z.string().default('127.0.0.1').describe('Address on which probes and metrics listen'),
  NATTER_OPERATIONS_PORT: z.coerce
    .number()
    .int()
    .default(0)
    .describe('Port of probes and metrics; 0 selects a free one'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .optional()
    .describe('OpenTelemetry collector (OTLP over HTTP); without it no traces are recorded'),
  NATTER_TRACE_RATIO: z.coerce.number().min(0).max(1).default(0.05).describe('Share of requests that are traced'),
  NATTER_EVENT_CHECK_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.001)
    .describe('Share of committed events that are compared with their declarations'),
  NATTER_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('Minimum severity of logged lines'),
  NATTER_POSTGRES_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Maximum number of connections to Postgres per process'),
  NATTER_LOG_REDIS_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(64)
    .describe("Maximum size of a realm's log in Redis; older entries are read from Postgres"),
  NATTER_MAX_UPLOAD_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_024)
    .default(25)
    .describe('Maximum size of an uploaded file'),
  NATTER_UPLOAD_QUOTA_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(10_240)
    .describe('Maximum total size of the uploaded files of a realm'),
  NATTER_DRAIN_MS: timerSetting('milliseconds')
    .min(0)
    .default(500)
    .describe('How long a stopping process continues after it reports that it is not ready'),
});
export type CommonConfig = z.infer<typeof commonConfig>;

/** Parses the environment; the error names the variable. */
export function readConfig<S extends z.ZodType>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const parsed = schema.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`Bad configuration: ${problems.join('; ')}`);
}

/** The effective config, without the passwords in URLs. */
export function redacted(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [
      key,
      /SECRET|PASSWORD|TOKEN/.test(key)
        ? '[redacted]'
        : typeof value === 'string'
          ? value.replace(/(:\/\/[^:/@]*:)[^@]*@/, '$1[redacted]@')
          : value,
    ]),
  );
}
