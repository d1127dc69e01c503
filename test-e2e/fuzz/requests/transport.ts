/** Mutations of a request apart from its values: framing, headers, truncation. */

import type { Random } from '../../random.ts';
import type { Call } from './call.ts';

type Mutation = (call: Call, random: Random) => void;

const withFirst = (call: Call, change: (name: string, value: string) => Call['fields']): void => {
  const [first, ...rest] = call.fields;
  if (first && typeof first[1] === 'string') call.fields = [...change(first[0], first[1]), ...rest];
};

const hostileHosts = [
  'evil.example',
  'localhost',
  '127.0.0.1',
  '[::1]:80',
  'a:b@c',
  '',
  'a b',
  '%00',
  'x'.repeat(300),
  'EXAMPLE.com.',
  'a,b',
  'a:99999',
];

const mutations: Record<string, Mutation> = {
  multipart: (call) => {
    if (call.method !== 'GET') call.form = 'multipart';
  },
  'fields in the query': (call) => {
    call.form = 'query';
  },
  'a form with GET': (call) => {
    if (call.form === 'query') call.form = 'urlencoded';
  },
  'a field twice': (call) =>
    withFirst(call, (name, value) => [
      [name, value],
      [name, `${value}1`],
    ]),
  'unknown fields': (call, random) => {
    for (let index = 0; index < random.pick([1, 1, 50, 3_000]); index++) call.fields.push([`unknown${index}`, 'x']);
  },
  'an alias beside its field': (call) => call.fields.push(['subject', 'a'], ['topic', 'b'], ['client', 'fuzz']),
  'field names as of prototypes': (call) =>
    call.fields.push(['__proto__', '1'], ['constructor', '1'], ['toString', '1']),
  'another verb by a field': (call, random) => {
    if (call.method === 'GET') return;
    call.fields.push([
      'method',
      random.pick([call.method, call.method.toLowerCase(), 'DELETE', 'GET', 'TRACE', '__proto__']),
    ]);
    call.method = 'POST';
  },
  HEAD: (call) => {
    if (call.method === 'GET') call.method = 'HEAD';
  },
  'an unusual verb': (call, random) => {
    call.method = random.pick(['OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'get', 'PUT', 'PATCH', 'DELETE']);
  },
  'another content type': (call, random) => {
    call.headers['content-type'] = random.pick([
      'application/json',
      'text/plain',
      '(none)',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(5_000)}`,
      'application/x-www-form-urlencoded; charset=utf-16',
      ';;;',
      'multipart/form-data; boundary="a\\"b"',
      '*/*',
    ]);
  },
  'a broken multipart body': (call, random) => {
    if (call.method === 'GET') return;
    call.headers['content-type'] = 'multipart/form-data; boundary=x';
    const whole =
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--x--\r\n';
    call.body = random.chance(0.7)
      ? whole.slice(0, random.below(whole.length))
      : random.pick([
          whole.replaceAll('\r\n', '\n'),
          whole.replace('form-data', 'x'.repeat(20_000)),
          whole.replace('name="a"', "name*=utf-8''%ff"),
          whole.replace('name="a"', ''),
          '--x'.repeat(5_000),
          whole.replace('--x--', '--x\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n--x--'),
          whole.replace('filename="f"', "filename*=utf-16''a"),
          `${'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n'.repeat(50)}--x--`,
        ]);
  },
  'a broken form': (call, random) => {
    if (call.method === 'GET') return;
    call.form = 'urlencoded';
    call.body = random.pick([
      '&&&&',
      '=',
      '=&=',
      '%',
      'a=%ff',
      '\u0000',
      'a'.repeat(100_000),
      '&'.repeat(10_000),
      'a=1&a[]=2&a[b]=3',
      '\ud83d',
    ]);
  },
  'JSON as a body': (call) => {
    if (call.method === 'GET') return;
    call.headers['content-type'] = 'application/json';
    call.body = '{"type":"direct","to":[1],"content":"x"}';
  },
  'another host': (call, random) => {
    call.headers.host = random.pick(hostileHosts);
  },
  'forwarding headers': (call, random) => {
    call.headers['x-forwarded-host'] = random.pick(hostileHosts);
    call.headers['x-forwarded-for'] = random.pick(['1.2.3.4', 'x', '::1, 1.1.1.1', 'y'.repeat(2_000)]);
    call.headers['x-forwarded-proto'] = random.pick(['https', 'javascript', '']);
    call.headers.forwarded = 'for=1.2.3.4;host=evil.example;proto=https';
  },
  'an idempotency key': (call, random) => {
    call.headers['idempotency-key'] = random.pick([
      'k1',
      'k2',
      'k3',
      '',
      'x'.repeat(300),
      'x'.repeat(10_000),
      'ü',
      `k${random.below(1e9)}`,
    ]);
  },
  'a range': (call, random) => {
    call.headers.range = random.pick([
      'bytes=0-',
      'bytes=-1',
      'bytes=5-1',
      'bytes=0-0,2-2',
      `bytes=${'9'.repeat(40)}-`,
      'x',
    ]);
  },
  'conditions and encodings': (call, random) => {
    call.headers['if-none-match'] = '*';
    call.headers['accept-encoding'] = random.pick(['gzip', 'br', 'identity;q=0', '*']);
    call.headers['content-encoding'] = random.pick(['identity', 'gzip', 'x']);
    call.headers.expect = random.pick(['(none)', '100-continue', 'x']);
  },
  'an event stream': (call, random) => {
    call.headers.accept = 'text/event-stream';
    call.headers['last-event-id'] = random.pick(['0', '-1', 'x', '9'.repeat(30), '1e3']);
    call.cut = { afterMs: 20 + random.below(200) };
  },
  'other credentials': (call, random) => {
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    call.headers.authorization = random.pick([
      'Basic',
      'Basic !!!',
      'Bearer x',
      basic(''),
      basic(':'),
      basic('a:b:c'),
      basic('\u0000:\u0000'),
      basic(`${'x'.repeat(3_000)}:y`),
      basic(`x:${'y'.repeat(3_000)}`),
      'basic eDp5',
      'Digest username="x"',
      '(none)',
      '',
    ]);
  },
  'other cookies and origins': (call, random) => {
    call.headers.cookie = random.pick([
      `sessionid=${'x'.repeat(43)}; csrftoken=${'y'.repeat(43)}`,
      `sessionid=${'x'.repeat(43)}; sessionid=${'z'.repeat(43)}`,
      `__Host-sessionid=${'x'.repeat(43)}`,
      'sessionid=; csrftoken=',
      'sessionid="\u0000"',
      'c=1; '.repeat(1_000),
      '=;=;',
      '(none)',
    ]);
    call.headers['x-csrftoken'] = random.pick(['', 'x', 'y'.repeat(43), 'ü'.repeat(43), '(none)']);
    call.headers.origin = random.pick(['http://evil.example', 'null', '', 'http://1.2.3.999', 'file://', '(none)']);
    call.headers['sec-fetch-site'] = random.pick(['cross-site', 'same-site', 'same-origin', 'none', 'x', '(none)']);
  },
  'a trace parent': (call, random) => {
    call.headers.traceparent = random.pick([
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x',
      '00-0-0-0',
      'f'.repeat(5_000),
    ]);
  },
  'many headers': (call, random) => {
    for (let index = 0; index < random.pick([50, 200, 2_000]); index++) call.headers[`x-h${index}`] = 'v';
  },
  'a long header': (call, random) => {
    call.headers['user-agent'] = random.pick(['u'.repeat(7_000), 'u'.repeat(20_000), 'ü\u0001', '((((', '']);
  },
  'a wrong length': (call, random) => {
    if (call.method === 'GET') return;
    call.headers['content-length'] = random.pick(['0', '1', 'x', '-1', '99999999999', '+5', '1, 2', '0x10']);
    call.cut = { afterMs: 100 };
  },
  'chunks that are none': (call, random) => {
    if (call.method === 'GET') return;
    call.headers['content-length'] = '(none)';
    call.headers['transfer-encoding'] = random.pick(['chunked', 'identity', 'gzip, chunked', 'chunked, chunked']);
    call.body = random.pick([
      '5\r\na=1&b\r\n0\r\n\r\n',
      'ffffffffffffffff\r\n',
      '-1\r\n',
      '1;ext=x\r\na\r\n0\r\n\r\n',
      '',
    ]);
    call.cut = { afterMs: 100 };
  },
  'the connection cut': (call, random) => {
    call.cut = random.chance(0.7) ? { share: random.next() } : { afterMs: random.pick([0, 1, 5, 20]) };
  },
  'another path': (call, random) => {
    call.path = random.pick([
      `${call.path}/`,
      call.path.replace('/api/v1', '//api/v1'),
      call.path.replace('/api/v1/', '/api/v1/./'),
      `${call.path}/extra`,
      `${call.path}%2f`,
      `${call.path}?`,
      `${call.path}?a=%ff`,
      `${call.path}#x`,
      call.path.toUpperCase(),
      call.path.replace('/api/v1', '/json'),
      call.path.replace('/json', '/api/v1'),
      `${call.path}/../users`,
      `/${'a/'.repeat(2_000)}`,
      `/api/v1/${'%25'.repeat(500)}`,
      '*',
      'http://evil.example/api/v1/users',
      '/openapi.json',
      '/docs',
      '/asyncapi.json',
    ]);
  },
};

const names = Object.keys(mutations);

export function mutate(call: Call, random: Random): void {
  const name = random.pick(names);
  mutations[name]?.(call, random);
  call.mutation = name;
}
