/** Single requests to the API, sent by Node in a gateway's container, to the Service that clients use. */
import { kubectl } from './kubernetes.ts';

export interface User {
  email: string;
  key: string;
}
export interface Body {
  result: string;
  code?: string;
  id?: number;
  queue_id?: string;
  messages?: { id: number; content: string }[];
}

const program = `
  const [url, credentials, method, path, form] = process.argv.slice(1);
  const fields = new URLSearchParams(JSON.parse(form));
  const response = await fetch(url + '/api/v1' + path + (method === 'GET' ? '?' + fields : ''), {
    method,
    headers: { authorization: 'Basic ' + Buffer.from(credentials).toString('base64') },
    ...(method === 'GET' ? {} : { body: fields }),
  });
  console.log(await response.text());`;

export function request({ email, key }: User, method: string, path: string, form: Record<string, string>): Body {
  const address = 'http://127.0.0.1:9991';
  const args = [address, `${email}:${key}`, method, path, JSON.stringify(form)];
  const command = ['/usr/local/bin/node', '--input-type=module', '-e', program, '--', ...args];
  return JSON.parse(kubectl(['exec', 'deployment/natter-gateway', '-c', 'gateway', '--', ...command])) as Body;
}

export function messagesOf(user: User): string[] {
  const query = { anchor: 'newest', num_before: '50', num_after: '0', apply_markdown: 'false', narrow: '[]' };
  return (request(user, 'GET', '/messages', query).messages ?? []).map(({ content }) => content);
}

/** Sends to the user itself, and returns the message's id. */
export function send(user: User, content: string): number {
  const { id } = request(user, 'POST', '/messages', { type: 'direct', to: JSON.stringify([user.email]), content });
  if (id === undefined) throw new Error(`"${content}" was not sent`);
  return id;
}
