import { expect, test } from 'vitest';
import { decodeEnvelope, encodeJson } from './wire.ts';

const meta = { requestId: 'r', realmId: 1, client: 'test' };

test.each(['\0', '\ud800', '\udc00'])('a request on the bus with %j in any place is rejected', (text) => {
  for (const envelope of [
    { meta, params: { content: `a${text}b` } },
    { meta, params: { values: [{ [text]: 1 }] } },
    { meta: { ...meta, client: text }, params: {} },
  ])
    expect(() => decodeEnvelope([encodeJson(envelope)])).toThrow('cannot be stored');
});

test('a request on the bus may contain the escapes of such characters', () => {
  const params = { content: String.raw`"\ud800" \u0000 \\ud800 \\\u0000 😀` };
  expect(decodeEnvelope([encodeJson({ meta, params })])).toEqual({ meta, params });
});
