import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import { createBodyTurns } from './body-turns.ts';
import { parseForm, parseMultipart, readForm } from './request-fields.ts';

const part = (name: string, value: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    value,
    Buffer.from('\r\n'),
  ]);
const bodyOf = (...values: Buffer[]): Buffer =>
  Buffer.concat([...values.map((value, index) => part(`f${index}`, value)), Buffer.from('--XX--\r\n')]);

test.each(['utf-16le', 'UCS-2', 'base64', 'iso-8859-1'])(
  'a part that names the charset %s is read as UTF-8',
  async (charset) => {
    const headers = `Content-Disposition: form-data; name="content"\r\nContent-Type: text/plain; charset=${charset}`;
    const parsed = (text: Buffer) =>
      parseMultipart(
        'multipart/form-data; boundary=XX',
        Buffer.concat([Buffer.from(`--XX\r\n${headers}\r\n\r\n`), text, Buffer.from('\r\n--XX--\r\n')]),
      );
    await expect(parsed(Buffer.from('610000d86200', 'hex'))).rejects.toThrow('not valid UTF-8');
    expect({ ...(await parsed(Buffer.from('Gr\u00fc\u00dfe'))).fields }).toEqual({ content: 'Gr\u00fc\u00dfe' });
  },
);

test.each([
  ["name*=utf-16le''%00%d8a%00", 'field'],
  [`name="file"; filename*=utf-16le''%00%d8a%00`, 'file'],
  [`name="file"; filename*=utf-16le''a%00%00%00`, 'file'],
])('a part with %s is refused: Postgres cannot store the name of the %s', async (disposition) => {
  const body = Buffer.from(`--XX\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nx\r\n--XX--\r\n`);
  await expect(parseMultipart('multipart/form-data; boundary=XX', body)).rejects.toThrow('half a surrogate pair');
});

test('if several parts have one name, the last one counts, also after an empty one', async () => {
  const one = (value: string) => part('a', Buffer.from(value));
  for (const values of [
    ['x'.repeat(200_000), '', 'last'],
    ['first', 'x', ''],
  ]) {
    const body = Buffer.concat([...values.map(one), Buffer.from('--XX--\r\n')]);
    const { fields } = await parseMultipart('multipart/form-data; boundary=XX', body);
    expect(fields.a).toBe(values.at(-1));
  }
});

test('after a body was rejected, the rest of it is not read', async () => {
  const large = Buffer.alloc(8 * 1024 * 1024, 'a');
  const body = bodyOf(Buffer.from([0xff]), large);
  const slices = vi.spyOn(body, 'subarray');
  await expect(parseMultipart('multipart/form-data; boundary=XX', body)).rejects.toThrow('not valid UTF-8');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(slices.mock.calls.length).toBeLessThan(8);
});

test('a field may hold the character that replaces invalid UTF-8', async () => {
  const { fields } = await parseMultipart(
    'multipart/form-data; boundary=XX',
    bodyOf(Buffer.from('a\ufffdb'), Buffer.from('c')),
  );
  expect({ ...fields }).toEqual({ f0: 'a\ufffdb', f1: 'c' });
});

test.each([
  ['fields', 'XX', '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'],
  ['empty parts', '"XX"', '--XX\r\n\r\n\r\n'],
])('a body with very many %s is refused before it is parsed', async (_, boundary, one) => {
  const body = Buffer.from(one.repeat(1_000));
  const slices = vi.spyOn(body, 'subarray');
  await expect(parseMultipart(`multipart/form-data; boundary=${boundary}`, body)).rejects.toThrow('Too many fields');
  expect(slices).not.toHaveBeenCalled();
});

test('a field that exceeds its parameter in any encoding stays encoded, so that it is still too long', () => {
  const longest = (name: string): number => (name === 'long' ? 2_000_000 : 1_024);
  const encoded = '%41'.repeat(100_000);
  const { short, long, unknown } = parseForm(Buffer.from(`short=%41&long=${encoded}&unknown=${encoded}`), longest);
  expect([short, long, unknown]).toEqual(['A', 'A'.repeat(100_000), encoded]);
});

test('the parts of a body share its memory and have the sent content', async () => {
  // Beginnings of the delimiter, at the ends of the slices that the parser gets and elsewhere.
  const piece = fc.constantFrom(
    '\r',
    '\r\n',
    '\r\n-',
    '\r\n--',
    '\r\n--Y',
    '-',
    'x',
    'x'.repeat(131_072),
    'x'.repeat(70_000),
  );
  const content = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
  await fc.assert(
    fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 5 }), async (contents) => {
      const sent = Buffer.concat([
        ...contents.flatMap((bytes, index) => [
          Buffer.from(`--XX\r\nContent-Disposition: form-data; name="f"; filename="${index}"\r\n\r\n`),
          bytes,
          Buffer.from('\r\n'),
        ]),
        Buffer.from('--XX--\r\n'),
      ]);
      // Like a received body, the buffer does not share memory with other buffers.
      const body = Buffer.allocUnsafeSlow(sent.length);
      sent.copy(body);
      const { files } = await parseMultipart('multipart/form-data; boundary=XX', body);
      expect(files.map(({ bytes }) => bytes.length)).toEqual(contents.map(({ length }) => length));
      for (const [index, { bytes }] of files.entries()) {
        expect(bytes.equals(contents[index] ?? Buffer.alloc(0))).toBe(true);
        if (bytes.length > 1_000) expect(bytes.buffer).toBe(body.buffer);
      }
    }),
    { numRuns: 60 },
  );
});

test('texts that take more memory than their body count with the body', async () => {
  const grow = vi.fn();
  const bytes = Buffer.from(`content=${'a'.repeat(10_000)}%F0%9F%98%80`);
  const length = bytes.length;
  const request = {
    body: { bytes, parse: (received: Buffer) => ({ fields: parseForm(received), files: [] }) },
    admitted: { lease: { grow }, meta: { realmId: 1 } },
  } as unknown as FastifyRequest;
  const { fields } = await readForm(request, createBodyTurns(), (work) => work());
  expect(fields.content).toHaveLength(10_002);
  expect(length + grow.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(20_000);
});
