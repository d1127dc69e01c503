import fastify from 'fastify';
import { expect, test } from 'vitest';
import { createAnswerBudget } from './answer-budget.ts';
import { createAnswerMemory } from './answer-memory.ts';

test('an error that replaces an answer does not have the headers of the body of the answer', async () => {
  const answers = createAnswerMemory(
    createAnswerBudget(10_000),
    () => undefined,
    (reply, { code, status }) => {
      reply.code(status);
      return { code };
    },
  );
  const app = fastify();
  app.addHook('onSend', async (request, reply, body) => answers.count(request, reply, body));
  const described = {
    'content-length': '9000',
    'content-encoding': 'br',
    'content-range': 'bytes 0-8999/9000',
    'content-disposition': 'attachment',
    'cache-control': 'public, max-age=31536000, immutable',
  };
  app.get('/', (_, reply) => reply.headers(described).type('text/javascript').send(Buffer.alloc(9_000)));
  const { statusCode, headers, payload } = await app.inject('/');
  expect([statusCode, JSON.parse(payload)]).toEqual([503, { code: 'SERVICE_UNAVAILABLE' }]);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(headers['content-length']).toBe(String(payload.length));
  for (const name of Object.keys(described)) if (name !== 'content-length') expect(headers).not.toHaveProperty(name);
});
