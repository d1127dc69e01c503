import { describeFields, featureLevel, publicEvents } from '@natter/contracts';
import { z } from 'zod';

/** AsyncAPI 3: every event that a queue can deliver, generated from the contract. */
export function asyncApi(): Record<string, unknown> {
  const entries = [...publicEvents].map(([name, { summary, view }]) => {
    const [type = name, op] = name.split('/');
    const head = {
      required: ['id', 'type', ...(op === undefined ? [] : ['op'])],
      properties: {
        id: { type: 'integer', description: 'The ID of the event; it grows within a queue.' },
        type: { const: type, description: 'The type of the event.' },
        ...(op === undefined ? {} : { op: { const: op, description: 'What happened.' } }),
      },
    };
    const body = z.toJSONSchema(view, { io: 'input', unrepresentable: 'any' });
    describeFields(body);
    return { key: name.replace('/', '.'), message: { name, summary, payload: withHead(body, head) } };
  });
  const reference = (key: string) => `#/components/messages/${key.replaceAll('~', '~0')}`;
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Natter events',
      version: String(featureLevel),
      description:
        'Events of a queue that `POST /api/v1/register` made, by long-polling `GET /api/v1/events` or as server-sent events.',
    },
    channels: {
      queue: {
        address: '/api/v1/events',
        messages: Object.fromEntries(entries.map(({ key }) => [key, { $ref: reference(key) }])),
      },
    },
    operations: { follow: { action: 'send', channel: { $ref: '#/channels/queue' } } },
    components: { messages: Object.fromEntries(entries.map(({ key, message }) => [key, message])) },
  };
}

interface Head {
  required: string[];
  properties: Record<string, unknown>;
}

/** Adds the fields that every event has beside its body; a body with several forms gets them in each. */
function withHead(body: z.core.JSONSchema.BaseSchema, head: Head): Record<string, unknown> {
  for (const forms of ['anyOf', 'oneOf'] as const) {
    const list = body[forms];
    if (list) return { ...body, [forms]: list.map((form) => withHead(form, head)) };
  }
  return {
    ...body,
    required: [...head.required, ...(body.required ?? [])],
    properties: { ...head.properties, ...body.properties },
  };
}
