import { request } from 'node:http';
import { type Answer, type Client, exchange } from '@natter/testkit';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';

export const fileType = 'application/offset+octet-stream';

/** The value of `Upload-Metadata`. */
export const metadataOf = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',');

type Headers = Record<string, string>;

/** A request of the protocol; the address is a path. It is sent again while the system is busy. */
export const tus = (
  client: Client,
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Headers; body?: Uint8Array | string } = {},
): Promise<Answer> =>
  untilServed(() =>
    exchange(`${client.url}${path}`, method, body, {
      host: client.host,
      authorization: authorizationOf(client),
      'tus-resumable': '1.0.0',
      ...headers,
    }),
  );

export async function create(client: Client, size: number, headers: Headers = {}): Promise<string> {
  const answer = await tus(client, 'POST', '/api/v1/tus/', { headers: { 'upload-length': String(size), ...headers } });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return String(answer.headers.location);
}

/** Sends a part of the file; `headers` replace those of the protocol. */
export const append = (
  client: Client,
  path: string,
  { offset, bytes }: { offset: number; bytes: Uint8Array },
  headers: Headers = {},
) =>
  tus(client, 'PATCH', path, {
    headers: { 'upload-offset': String(offset), 'content-type': fileType, ...headers },
    body: bytes,
  });

export const offsetOf = async (client: Client, path: string): Promise<number> =>
  Number((await tus(client, 'HEAD', path)).headers['upload-offset']);

/** Sends a part of the body that its headers announce, and keeps the connection open; `cut` closes it. */
export function begin(
  client: Client,
  path: string,
  { offset, announced, bytes }: { offset: number; announced: number; bytes: Buffer },
): { cut: () => void } {
  const outgoing = request(`${client.url}${path}`, {
    method: 'PATCH',
    headers: {
      host: client.host,
      authorization: authorizationOf(client),
      'content-type': fileType,
      'content-length': announced,
      'upload-offset': offset,
    },
  });
  outgoing.on('error', () => undefined);
  outgoing.write(bytes);
  return { cut: () => outgoing.destroy() };
}

/** The bytes of a file. */
export const download = (client: Client, url: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const headers = { host: client.host, authorization: authorizationOf(client) };
    request(`${client.url}${encodeURI(url)}`, { headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
