import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { csrfCookieOf, csrfTokenOf, sessionOf, setSession } from './session-cookies.ts';

const [session, other] = ['s'.repeat(43), 't'.repeat(43)];
const request = (cookie?: string) => ({ headers: { cookie } }) as FastifyRequest;

function cookiesOf(realmUrl: string, value: Parameters<typeof setSession>[2]): string[] {
  const set: string[] = [];
  const reply = { header: (_: string, cookie: string) => set.push(cookie) } as unknown as FastifyReply;
  setSession(reply, realmUrl, value);
  return set;
}

test('cookies of a realm with HTTPS are secure and cannot be set by other hosts', () => {
  expect(cookiesOf('https://chat.example', { token: session, max_age_seconds: 60 })).toEqual([
    `__Host-sessionid=${session}; Path=/; Max-Age=60; SameSite=Lax; HttpOnly; Secure`,
    `__Host-csrftoken=${csrfTokenOf(session)}; Path=/; Max-Age=60; SameSite=Lax; Secure`,
  ]);
  expect(cookiesOf('https://chat.example', null)).toEqual([
    '__Host-sessionid=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly; Secure',
    '__Host-csrftoken=; Path=/; Max-Age=0; SameSite=Lax; Secure',
  ]);
  expect(sessionOf(request(`sessionid=${session}`), 'https://chat.example')).toBeUndefined();
  expect(sessionOf(request(`a=1; __Host-sessionid=${session}; b=2`), 'https://chat.example')).toBe(session);
});

test('only one well-formed cookie of the exact name counts', () => {
  const at = 'http://localhost:9991';
  expect(sessionOf(request(`sessionid=${session}`), at)).toBe(session);
  expect(csrfCookieOf(request(`sessionid=${session};csrftoken="${other}"`), at)).toBe(other);
  for (const cookie of [
    undefined,
    '',
    `sessionid=${session}; sessionid=${session}`,
    `sessionid=${session}; sessionid=`,
    `xsessionid=${session}`,
    `sessionid =${session}`,
    `SESSIONID=${session}`,
    `sessionid=${session}x`,
    `sessionid=${session.slice(1)}`,
    `sessionid=${session.slice(1)}=`,
    ';'.repeat(10_000),
  ])
    expect([cookie, sessionOf(request(cookie), at)]).toEqual([cookie, undefined]);
});
