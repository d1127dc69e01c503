import { Parser } from '@asyncapi/parser';
import { problemOfEvent } from '@natter/contracts';
import { expect, test } from 'vitest';
import { asyncApi } from './async-api.ts';

const document = asyncApi();
const { messages } = document.components as {
  messages: Record<string, { name: string; examples: { payload: Record<string, unknown> }[] }>;
};

test('the AsyncAPI parser reports no problem', async () => {
  const { diagnostics, document: parsed } = await new Parser().parse(JSON.stringify(document));
  expect(diagnostics.map(({ code, message, path }) => [code, message, path.join('/')])).toEqual([]);
  expect(parsed?.operations().get('follow')?.messages()).toHaveLength(Object.keys(messages).length);
  expect(
    parsed
      ?.servers()
      .all()
      .map((server) => server.security().flatMap((one) => one.all().map((scheme) => scheme.scheme().type()))),
  ).toEqual([['http'], ['httpApiKey']]);
});

test('every event has an example that matches its declaration', () => {
  for (const { name, examples } of Object.values(messages)) {
    expect(examples, name).toHaveLength(1);
    for (const { payload } of examples) {
      expect(problemOfEvent(payload)).toBeUndefined();
      // A field without an example value would be missing here.
      expect(JSON.parse(JSON.stringify(payload))).toStrictEqual(payload);
    }
  }
});
