import type { Answer, Client, Json } from '@natter/testkit';
import { untilServed } from '../patience.ts';

type Form = Record<string, Json>;

/** A browser at a realm that is reached by HTTP: it keeps cookies, and names the origin of the page that sends. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #client: Client;
  readonly origin: string;

  /** `client` has no key. */
  constructor(client: Client) {
    this.#client = client;
    this.origin = `http://${client.host}`;
  }

  get session(): string {
    return this.cookies.get('sessionid') ?? '';
  }

  get token(): string {
    return this.cookies.get('csrftoken') ?? '';
  }

  /** Sends the cookies, and no header that only a script of this origin could set; again while the system is busy. */
  async send(method: string, path: string, form: Form = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all = { ...(cookie ? { cookie } : {}), ...headers };
    const answer = await untilServed(() => this.#client.send(method, `/${path}`, form, all));
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) this.#keep(set);
    return answer;
  }

  /** Sends a request to the API like a script of this origin. */
  json(method: string, path: string, form: Form = {}): Promise<Answer> {
    const headers = method === 'GET' ? {} : { origin: this.origin, 'x-csrftoken': this.token };
    return this.send(method, `/json${path}`, form, { 'sec-fetch-site': 'same-origin', ...headers });
  }

  /** A busy server may have no time for the hash of the password. A wrong password may then count twice. */
  login(username: string, password: string, more: Form = {}): Promise<Answer> {
    const form = { username, password, ...more };
    return untilServed(() => this.send('POST', '/accounts/login', form, { origin: this.origin }));
  }

  #keep(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (/max-age=0\b/i.test(set)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
