import type { HostileFile } from './hostile-files.ts';

/** Text, or percent-encoded bytes that no text can represent. */
export type FieldValue = string | { encoded: string };

/** One request before it is encoded; credentials and host are added when it is sent. */
export interface Call {
  operation: string;
  role: string;
  method: string;
  /** The path with the prefix of the API, percent-encoded. */
  path: string;
  fields: [name: string, value: FieldValue][];
  file: HostileFile | undefined;
  form: 'urlencoded' | 'multipart' | 'query';
  /** Headers in lower case that are added to the usual headers, or replace them. */
  headers: Record<string, string>;
  /** A body that replaces the form. */
  body: string | undefined;
  /** The connection is closed after this share of the request was sent, or this long after all of it. */
  cut: { share: number } | { afterMs: number } | undefined;
  /** The mutation of the request apart from its values. */
  mutation: string | undefined;
}

/** The cookies that a browser with a session sends. */
export interface Cookies {
  sessionid: string;
  csrftoken: string;
}

export interface Credentials {
  host: string;
  authorization: string | undefined;
  cookies?: Cookies | undefined;
}

/** An ordinary request. Strings are sent as they are, all other values as JSON. */
export function callOf(method: string, path: string, form: Record<string, unknown>): Call {
  const fields = Object.entries(form).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as [string, string],
  );
  return {
    operation: '',
    role: '',
    method,
    path: `/api/v1${path}`,
    fields,
    file: undefined,
    form: method === 'GET' ? 'query' : 'urlencoded',
    headers: {},
    body: undefined,
    cut: undefined,
    mutation: undefined,
  };
}

const boundary = 'fuzzboundary';

export function bytesOf(call: Call, { host, authorization, cookies }: Credentials): Buffer {
  const query = call.form === 'query' ? encodedFields(call.fields) : '';
  const body = bodyOf(call);
  const headers: Record<string, string> = {
    host,
    ...(authorization === undefined ? {} : { authorization }),
    ...(cookies ? browserHeaders(host, cookies) : {}),
    'user-agent': 'fuzz/1',
    ...(body.length > 0 || call.method !== 'GET' ? { 'content-type': contentTypeOf(call) } : {}),
    ...(body.length > 0 || call.method !== 'GET' ? { 'content-length': String(body.length) } : {}),
    ...call.headers,
  };
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== '(none)')
    .map(([name, value]) => `${name}: ${value}`);
  const head = `${call.method} ${call.path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'utf8'), body]);
}

const browserHeaders = (host: string, { sessionid, csrftoken }: Cookies): Record<string, string> => ({
  cookie: `sessionid=${sessionid}; csrftoken=${csrftoken}`,
  'x-csrftoken': csrftoken,
  origin: `http://${host}`,
});

const contentTypeOf = (call: Call): string =>
  call.form === 'multipart' ? `multipart/form-data; boundary=${boundary}` : 'application/x-www-form-urlencoded';

function bodyOf(call: Call): Buffer {
  if (call.body !== undefined) return Buffer.from(call.body, 'latin1');
  if (call.form === 'query') return Buffer.alloc(0);
  if (call.form === 'urlencoded') return Buffer.from(encodedFields(call.fields));
  const parts = call.fields.map(([name, value]) =>
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${typeof value === 'string' ? value : value.encoded}\r\n`,
    ),
  );
  const { file } = call;
  const filePart = file
    ? [
        Buffer.from(
          `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"\r\nContent-Type: ${file.type}\r\n\r\n`,
        ),
        file.bytes,
        Buffer.from('\r\n'),
      ]
    : [];
  return Buffer.concat([...parts, ...filePart, Buffer.from(`--${boundary}--\r\n`)]);
}

function encodedFields(fields: Call['fields']): string {
  return fields
    .map(([name, value]) => `${encoded(name)}=${typeof value === 'string' ? encoded(value) : value.encoded}`)
    .join('&');
}

/** A lone surrogate is encoded to bytes that are invalid UTF-8. */
export function encoded(text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text);
  return [...text]
    .map((character) =>
      character.isWellFormed()
        ? encodeURIComponent(character)
        : `%ed%${(0xa0 + ((character.charCodeAt(0) >> 6) & 0x1f)).toString(16)}%${(0x80 + (character.charCodeAt(0) & 0x3f)).toString(16)}`,
    )
    .join('');
}

/** A command line that sends nearly the same request, with placeholders for credentials. */
export function commandOf(call: Call, url: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const short = (text: string): string =>
    text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length} characters)` : text;
  const fields = call.fields.map(
    ([name, value]) => `${encoded(name)}=${typeof value === 'string' ? encoded(value) : value.encoded}`,
  );
  const query = call.form === 'query' && fields.length > 0 ? `?${fields.join('&')}` : '';
  const data =
    call.body !== undefined
      ? [`--data-binary ${quoted(short(call.body))}`]
      : call.form === 'query'
        ? []
        : call.form === 'multipart'
          ? call.fields.map(
              ([name, value]) => `-F ${quoted(short(`${name}=${typeof value === 'string' ? value : value.encoded}`))}`,
            )
          : fields.map((field) => `-d ${quoted(short(field))}`);
  const file = call.file
    ? [`-F ${quoted(`file=@- (${call.file.bytes.length} bytes, ${call.file.name}, ${call.file.type})`)}`]
    : [];
  const headers = Object.entries(call.headers).map(([name, value]) => `-H ${quoted(short(`${name}: ${value}`))}`);
  const cut = call.cut === undefined ? [] : [`# cut off: ${JSON.stringify(call.cut)}`];
  return [
    `curl -X ${call.method} -u "$${call.role.toUpperCase().replaceAll('-', '_')}"`,
    quoted(`${url}${call.path}${short(query)}`),
    ...headers,
    ...data,
    ...file,
    ...cut,
  ].join(' ');
}
