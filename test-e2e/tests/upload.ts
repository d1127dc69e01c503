import { type Answer, type Client, exchange } from '@natter/testkit';
import { authorizationOf } from '../api.ts';
import { untilServed } from '../patience.ts';

/** A PNG header that claims a size; no code here decodes images. */
export function pngOf(width: number, height: number, filler = 1_000): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080600000000000000', 'hex');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.alloc(filler, 7)]);
}

export const png = pngOf(64, 64);

interface UploadOptions {
  picture?: Buffer;
  headers?: Record<string, string>;
  method?: 'POST' | 'PATCH';
}

/** Sends an image, with the fields beside it; again while the gateway is busy with other bodies. */
export function uploadTo(
  client: Client,
  path: string,
  fields: Record<string, string> = {},
  { picture = png, headers = {}, method = 'POST' }: UploadOptions = {},
): Promise<Answer> {
  const boundary = 'natter-boundary';
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${parts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="picture.png"\r\nContent-Type: image/png\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), picture, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const authorization = authorizationOf(client);
  const all = {
    host: client.host,
    ...(client.email === '' ? {} : { authorization }),
    'content-type': `multipart/form-data; boundary=${boundary}`,
    ...headers,
  };
  return untilServed(() => exchange(`${client.url}/api/v1${path}`, method, body, all));
}
