import { z } from 'zod';
import { exampleOfSchema } from '../vocabulary/schema-examples.ts';
import { publicEvents } from './index.ts';

/** Optional fields that an example contains, because it would be invalid or meaningless without them. */
const included: Readonly<Record<string, readonly string[]>> = {
  message: ['flags'],
  update_message: [
    ...['stream_id', 'stream_name', 'orig_content', 'orig_rendered_content', 'content', 'rendered_content'],
    'is_me_message',
  ],
  'realm_bot/update': ['bot.full_name'],
  user_status: ['status_text', 'emoji_name', 'emoji_code', 'reaction_type'],
};

/** Values that depend on another field. */
const values: Readonly<Record<string, object>> = {
  'stream/update': { name: 'general', property: 'name', value: 'announcements' },
  'subscription/update': { property: 'color', value: '#76ce90' },
};

/** An example of an event as a client receives it. Its IDs name no objects of the reader's server. */
export function exampleOfEvent(name: string): Record<string, unknown> {
  const declared = publicEvents.get(name);
  if (!declared) throw new Error(`There is no event ${name}`);
  const [type, op] = name.split('/');
  const schema = z.toJSONSchema(declared.view, { io: 'input', unrepresentable: 'any' });
  const body = exampleOfSchema(schema, included[name]) as Record<string, unknown>;
  return { id: 0, type, ...(op === undefined ? {} : { op }), ...body, ...values[name] };
}
