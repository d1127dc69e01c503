import { expect } from 'vitest';
import { type Answer, type Credentials, request } from './api.ts';

/** Creates a bot of this owner, and returns its credentials. */
export async function createBot(url: string, owner: Credentials, name: string): Promise<Credentials> {
  const made = await request(url, owner, 'POST /bots', { full_name: name, short_name: name });
  expect(made.status).toBe(200);
  const { body } = await request(url, owner, 'GET /bots');
  const { username, api_key } = body.bots.find((bot: Answer) => bot.full_name === name);
  return { email: username, api_key };
}
