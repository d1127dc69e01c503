import { z } from 'zod';
import { channelEvents } from './channels.ts';
import { messageEvents } from './messages.ts';
import { organizationEvents } from './organization.ts';
import { ownEvents } from './own.ts';
import { peopleEvents } from './people.ts';

/** What clients see of each event beside `id`, `type` and `op`, by `type` or `type/op`. */
export const eventSchemas = {
  heartbeat: z.strictObject({}),
  ...messageEvents,
  ...channelEvents,
  ...peopleEvents,
  ...ownEvents,
  ...organizationEvents,
} satisfies Record<string, z.ZodType>;

/** Why an event is not as the catalogue has it; undefined when it is. */
export function problemOfEvent(event: Record<string, unknown>): string | undefined {
  const { id, type, op, ...body } = event;
  const name = op === undefined ? String(type) : `${String(type)}/${String(op)}`;
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return `${name}: id is not an integer`;
  const schema = (eventSchemas as Record<string, z.ZodType>)[name];
  if (!schema) return `${name}: no such event`;
  const parsed = schema.safeParse(body);
  if (parsed.success) return undefined;
  return `${name}: ${parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`;
}
