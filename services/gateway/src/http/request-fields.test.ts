import { expect, test, vi } from 'vitest';
import { parseForm, parseMultipart } from './request-fields.ts';

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

test('of several parts with one name the last counts, also after an empty one', async () => {
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

test('nothing more of a body is read after it was refused', async () => {
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

test('a field that is longer than its parameter in any encoding stays encoded, and is longer than the parameter then', () => {
  const longest = (name: string): number => (name === 'long' ? 2_000_000 : 1_024);
  const encoded = '%41'.repeat(100_000);
  const { short, long, unknown } = parseForm(Buffer.from(`short=%41&long=${encoded}&unknown=${encoded}`), longest);
  expect([short, long, unknown]).toEqual(['A', 'A'.repeat(100_000), encoded]);
});
