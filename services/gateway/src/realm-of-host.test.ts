import { ChatError } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { createRealmFinder } from './realm-of-host.ts';

/** Finds realms on a bus that knows one host, and counts the calls. */
function finder(limit: number) {
  const asked: string[] = [];
  const bus = {
    call: async (_: unknown, { host }: { host: string }) => {
      asked.push(host);
      if (host === 'chat.example') return { realm_id: 1, realm_url: 'https://chat.example' };
      throw new ChatError('NONEXISTENT_SUBDOMAIN', 'There is no organization here');
    },
  } as unknown as Bus;
  const find = createRealmFinder(bus, { limit, windowSeconds: 60 });
  const codeOf = (host: string, network: string): Promise<string> =>
    find(host, { requestId: '', realmId: 0, client: '', network }).then(
      () => 'found',
      (error: ChatError) => error.code,
    );
  return { asked, codeOf };
}

test('a network that asks for unknown hosts is refused before users is called', async () => {
  const { asked, codeOf } = finder(3);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  for (let count = 0; count < 3; count++)
    expect(await codeOf(`${count}.example`, '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
  expect(await codeOf('3.example', '192.0.2.1')).toBe('RATE_LIMIT_HIT');
  expect(asked).not.toContain('3.example');
});

test('it is still served by a host that is known, and other networks are not affected', async () => {
  const { codeOf } = finder(1);
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.1')).toBe('NONEXISTENT_SUBDOMAIN');
  expect(await codeOf('chat.example', '192.0.2.1')).toBe('found');
  expect(await codeOf('no.example', '192.0.2.2')).toBe('NONEXISTENT_SUBDOMAIN');
});
