import { z } from 'zod';

/** Settings that every process has. */
export const commonConfig = z.object({
  NATTER_NATS_URL: z.string().describe('NATS, with credentials'),
  NATTER_REDIS_URL: z.string().describe('Redis, with credentials'),
  NATTER_POSTGRES_URL: z.string().optional().describe('Postgres, with the credentials of this service'),
  NATTER_OPERATIONS_HOST: z.string().default('127.0.0.1').describe('Where probes and metrics listen'),
  NATTER_OPERATIONS_PORT: z.coerce.number().int().default(0).describe('Port of probes and metrics; 0 takes a free one'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .optional()
    .describe('OpenTelemetry collector (OTLP over HTTP); none records no traces'),
  NATTER_TRACE_RATIO: z.coerce.number().min(0).max(1).default(0.05).describe('Share of requests that are traced'),
  NATTER_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('Least severe line that is logged'),
  NATTER_POSTGRES_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Most connections to Postgres per process'),
  NATTER_MAX_UPLOAD_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_024)
    .default(25)
    .describe('Largest file that is uploaded'),
  NATTER_UPLOAD_QUOTA_MIB: z.coerce
    .number()
    .int()
    .min(1)
    .default(10_240)
    .describe('Space for the uploaded files of a realm'),
  NATTER_DRAIN_MS: z.coerce
    .number()
    .int()
    .min(0)
    .default(500)
    .describe('How long a stopping process stays up after it said it is not ready'),
});
export type CommonConfig = z.infer<typeof commonConfig>;

/** Parses the environment; the error names the variable. */
export function readConfig<S extends z.ZodType>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const parsed = schema.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`Bad configuration: ${problems.join('; ')}`);
}

/** The effective config without the passwords in its URLs. */
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
