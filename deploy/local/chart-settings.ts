/** The value `settings` of the chart, as a JSON Schema of what the processes accept. */
import type { z } from 'zod';
import { type SettingShape, shapeOfSetting } from './setting-schemas.ts';

/** Provided by the Secrets, by the image, or by a value of the chart with another name. The canary has values of its own. */
const otherwise =
  /^(?:NATTER_(?:NATS|REDIS|POSTGRES|SMTP)_URL|NATTER_BOT_KEY_SECRET.*|NATTER_(?:OPERATIONS|HTTP)_(?:HOST|PORT|FD)|NATTER_TRUSTED_PROXIES|NATTER_LOG_LEVEL|NATTER_DRAIN_MS|NATTER_MAIL_FROM|OTEL_EXPORTER_OTLP_ENDPOINT|NATTER_CANARY_.*)$/;

export function chartSettings(settings: readonly Record<string, z.ZodType>[]): Record<string, object> {
  const entries = settings
    .flatMap((each) => Object.entries(each))
    .filter(([name]) => !otherwise.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, schema]) => [name, schemaOf(schema)]));
}

/** YAML has numbers and booleans, where the environment has texts. */
function schemaOf(schema: z.ZodType): object {
  const shapes = [shapeOfSetting(schema, 'output'), shapeOfSetting(schema, 'input')];
  const shape = shapes.find(({ type }) => type === 'integer' || type === 'number') ?? shapes[1] ?? {};
  if (shape.type === 'integer' || shape.type === 'number') return numberOf(shape);
  return { type: shape.enum?.includes('true') ? 'boolean' : 'string' };
}

const isBound = (value: number | undefined): value is number => value !== undefined && Number.isSafeInteger(value);

function numberOf({ type, minimum, exclusiveMinimum, maximum }: SettingShape): object {
  return {
    type,
    ...(isBound(minimum) && minimum !== Number.MIN_SAFE_INTEGER ? { minimum } : {}),
    ...(isBound(exclusiveMinimum) ? { exclusiveMinimum } : {}),
    ...(isBound(maximum) && maximum !== Number.MAX_SAFE_INTEGER ? { maximum } : {}),
  };
}

/** The chart's schema of values with these settings. */
export function withSettings(text: string, properties: Record<string, object>): string {
  const schema = JSON.parse(text) as { properties: { settings: object } };
  schema.properties.settings = { ...schema.properties.settings, properties };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
