import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { request } from '../api.ts';
import { dataDirectory, openSystem } from '../open-system.ts';
import { requestOnce } from '../patience.ts';
import { statementGate } from '../statement-gate.ts';

test('a first start that is stopped between two accounts is continued by the next start', async () => {
  const dataDir = await dataDirectory();
  const stopping = new AbortController();
  const first = openSystem({
    dataDir,
    gateways: 1,
    signal: stopping.signal,
    between: async ({ program, server, url }) => {
      if (server !== 'postgres' || program !== 'users') return url;
      const gate = await statementGate(url);
      // The accounts of the owner and the administrator exist by then.
      void gate.stopAt('moderator@natter.example', 0).then(() => stopping.abort(new Error('stopped while starting')));
      return gate.url;
    },
  });
  await expect(first).rejects.toThrow('stopped while starting');

  const system = await openSystem({ dataDir, gateways: 1 });
  try {
    for (const person of Object.values(system.people)) {
      expect((await request(system.url, person, 'GET /users/me')).body.email).toBe(person.email);
      const { email: username, password } = person;
      const login = await requestOnce(system.url, person, 'POST /fetch_api_key', { username, password });
      expect([login.status, login.body.email]).toEqual([200, username]);
    }
    const { members } = (await request(system.url, system.people.owner, 'GET /users')).body;
    expect(members.filter((one: { is_bot: boolean }) => !one.is_bot)).toHaveLength(6);
    expect((await readdir(dataDir)).filter((name) => name.includes('unfinished'))).toEqual([]);
  } finally {
    await system.stop();
  }
});
