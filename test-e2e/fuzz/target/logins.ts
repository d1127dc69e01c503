/** Logins other than by an API key. */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, type Cookies, callOf } from '../requests/call.ts';
import { Connection } from '../requests/connection.ts';

/** Logs a person in like the form of the login page. */
export async function beginSession(
  { url, host }: { url: string; host: string },
  username: string,
  password: string,
): Promise<Cookies> {
  const call = { ...callOf('POST', '', { username, password }), path: '/accounts/login' };
  call.headers = { origin: `http://${host}` };
  for (let tries = 1; ; tries++) {
    const connection = new Connection(Number(new URL(url).port));
    const { status, headers } = await connection.exchange(bytesOf(call, { host, authorization: undefined }), {
      isHead: false,
      timeoutMs: 60_000,
    });
    connection.close();
    const [sessionid, csrftoken] = ['sessionid', 'csrftoken'].map(
      (name) => new RegExp(`${name}=([\\w-]{43})`).exec(headers['set-cookie'] ?? '')?.[1],
    );
    if (sessionid !== undefined && csrftoken !== undefined) return { sessionid, csrftoken };
    // A machine that is busy with other work is late at times.
    if (status !== 503 || tries === 10) throw new Error(`a login set no cookies: ${status}`);
    await sleep(500);
  }
}

export const tokenKey = 'the key of tokens of the attacked realm';

/** A JSON Web Token that another system signed for a person. */
export function tokenFor(email: string): string {
  const [header, claims] = [{ alg: 'HS256' }, { email }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${header}.${claims}.${createHmac('sha256', tokenKey).update(`${header}.${claims}`).digest('base64url')}`;
}
