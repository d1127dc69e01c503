import { type Answer, type Client, exchange } from '@natter/testkit';
import { authorizationOf } from '../../api.ts';
import { untilServed } from '../../patience.ts';

interface Part {
  name: string;
  type?: string;
  bytes: Buffer;
}

/** Sends a form of files only; each part is named like its file, as one of the clients does. */
export const upload = (client: Client, ...parts: Part[]): Promise<Answer> => uploadWith({}, client, ...parts);

/** The same with further headers. The gateway may be busy with other bodies for a while. */
export function uploadWith(headers: Record<string, string>, client: Client, ...parts: Part[]): Promise<Answer> {
  const boundary = `natter${Math.random()}`;
  const body = Buffer.concat([
    ...parts.flatMap(({ name, type, bytes }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n`,
      ),
      bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const all = {
    ...headers,
    host: client.host,
    authorization: authorizationOf(client),
    'content-type': `multipart/form-data; boundary=${boundary}`,
  };
  return untilServed(() => exchange(`${client.url}/api/v1/user_uploads`, 'POST', body, all));
}

/** Uploads a small text; returns its URL. */
export async function uploadText(client: Client, text: string, name = 'notes.txt'): Promise<string> {
  const { status, body } = await upload(client, { name, type: 'text/plain', bytes: Buffer.from(text) });
  if (status !== 200) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
  return body.url;
}
