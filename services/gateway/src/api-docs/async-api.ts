import { describeFields, exampleOfEvent, featureLevel, publicEvents } from '@natter/contracts';
import { z } from 'zod';

/** AsyncAPI 3: every event that a queue can deliver, generated from the contract. */
export function asyncApi(): Record<string, unknown> {
  const messages = Object.fromEntries([...publicEvents.keys()].map((name) => [keyOf(name), messageOf(name)]));
  const keys = Object.keys(messages);
  const to = (place: string) => (key: string) => ({ $ref: `#/${place}/messages/${key}` });
  return {
    asyncapi: '3.1.0',
    id: 'urn:natter:events',
    info: {
      title: 'Natter events',
      version: String(featureLevel),
      description: [
        'Events of a queue that `POST /api/v1/register` made, by long-polling `GET /api/v1/events` or, with `accept: text/event-stream`, as server-sent events.',
        'The IDs of the events of a queue grow. A client names the last one that it has processed as `last_event_id`; the server forgets events up to it, and gives all others again.',
        'Operations are described in `/openapi.json`.',
      ].join('\n\n'),
      contact: { name: 'Natter', url: 'https://github.com/natter-chat/natter' },
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [{ name: 'events', description: 'The events that a client receives.' }],
    },
    defaultContentType: 'application/json',
    servers: {
      keys: {
        ...server,
        pathname: '/api/v1',
        description: 'For clients with an API key.',
        security: [scheme('basic')],
      },
      browsers: {
        ...server,
        pathname: '/json',
        description: 'For browsers with a session.',
        security: [scheme('session')],
      },
    },
    channels: {
      queue: {
        address: '/events',
        title: 'Event queue',
        description: 'The events of one queue, in order.',
        messages: Object.fromEntries(keys.map((key) => [key, to('components')(key)])),
        bindings: { http: {} },
      },
    },
    operations: {
      follow: {
        action: 'send',
        title: 'Follow a queue',
        summary: 'The server sends the events of a queue to the client that follows it.',
        channel: { $ref: '#/channels/queue' },
        messages: keys.map(to('channels/queue')),
        bindings: { http: { method: 'GET', query, bindingVersion: '0.3.0' } },
      },
    },
    components: { messages, securitySchemes },
  };
}

const server = { host: 'chat.example.com', protocol: 'https' };
const scheme = (name: keyof typeof securitySchemes) => ({ $ref: `#/components/securitySchemes/${name}` });
const securitySchemes = {
  basic: { type: 'http', scheme: 'basic', description: 'The email address and the API key of a user or a bot.' },
  session: { type: 'httpApiKey', in: 'cookie', name: 'sessionid', description: 'The session of a browser.' },
};
const query = {
  type: 'object',
  required: ['queue_id', 'last_event_id'],
  properties: {
    queue_id: { type: 'string', description: 'The ID of the queue.' },
    last_event_id: {
      type: 'integer',
      description: 'The ID of the last event that the client has processed; -1 for none.',
    },
  },
};

/** The names of events contain a slash, which references escape. */
const keyOf = (name: string): string => name.replace('/', '.');

function messageOf(name: string): Record<string, unknown> {
  const { summary, view } = publicEvents.get(name) ?? {};
  return {
    name,
    title: name.replace('/', ': '),
    summary,
    payload: eventSchema(name, view),
    examples: [{ name: keyOf(name), summary, payload: exampleOfEvent(name) }],
  };
}

/** The JSON Schema of an event as a client receives it. */
function eventSchema(name: string, view: z.ZodType = z.never()): Record<string, unknown> {
  const [type, op] = name.split('/');
  const head = {
    required: ['id', 'type', ...(op === undefined ? [] : ['op'])],
    properties: {
      id: { type: 'integer', description: 'The ID of the event; it grows within a queue.' },
      type: { type: 'string', const: type, description: 'The type of the event.' },
      ...(op === undefined ? {} : { op: { type: 'string', const: op, description: 'What happened.' } }),
    },
  };
  const { $schema: _, ...body } = z.toJSONSchema(view, { io: 'input', unrepresentable: 'any' });
  describeFields(body);
  return withHead(body, head);
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
