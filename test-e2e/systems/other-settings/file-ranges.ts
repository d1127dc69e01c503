import { expect, test } from 'vitest';
import { authorizationOf, request } from '../../api.ts';
import { withinOneWindow } from '../../one-window.ts';
import { system } from './system.ts';

const size = 5 * 1024 * 1024;

/** The address of an uploaded file, for its owner. */
async function uploadLarge(bytes = size): Promise<string> {
  const { member } = system.people;
  const form = new FormData();
  form.set('file', new File([new Uint8Array(bytes)], 'film.mp4', { type: 'video/mp4' }));
  const headers = { authorization: authorizationOf(member) };
  const uploaded = await fetch(`${system.url}/api/v1/user_uploads`, { method: 'POST', headers, body: form });
  return ((await uploaded.json()) as { url: string }).url;
}

/** A range of the file; status, size and count of the answer. */
const ranges = [
  ['0-1', 206, 2, 1],
  [`${size - 2}-`, 206, 2, 1],
  ['-1048577', 206, 1_048_577, 2],
  ['0-', 206, size, 5],
  [undefined, 200, size, 5],
  [`${size}-`, 416, 0, 1],
] as const;

/** The state of the budget after a request for a range. */
async function ask(
  url: string,
  range: string | undefined,
  from: Record<string, string>,
): Promise<[number, number, number]> {
  const headers = { ...from, ...(range === undefined ? {} : { range: `bytes=${range}` }) };
  const answer = await fetch(system.url + url, { headers });
  const { byteLength } = await answer.arrayBuffer();
  return [answer.status, byteLength, Number(answer.headers.get('x-ratelimit-remaining'))];
}

test('a range of a file counts by its own size in started MiB', async () => {
  const { body } = await request(system.url, system.people.member, `GET ${await uploadLarge()}`);
  let host = 1;
  await withinOneWindow(async () => {
    const from = { 'x-forwarded-for': `198.51.100.${host++}` };
    let left = (await ask(body.url, '0-1', from))[2];
    for (const [range, status, bytes, cost] of ranges) {
      left -= cost;
      expect([range, ...(await ask(body.url, range, from))]).toEqual([range, status, bytes, left]);
    }
  });
});

test('a file that a user downloads counts by its size too, in the budget of files', async () => {
  const url = await uploadLarge();
  const from = { authorization: authorizationOf(system.people.member) };
  await withinOneWindow(async () => {
    const before = (await ask(url, '0-1', from))[2];
    expect(await ask(url, undefined, from)).toEqual([200, size, before - 5]);
    expect(before).toBeGreaterThan(1_000_000);
  });
});

test('a range that a user reads counts while it is sent', async () => {
  const url = await uploadLarge();
  const from = { authorization: authorizationOf(system.people.member) };
  await withinOneWindow(async () => {
    let left = (await ask(url, '0-1', from))[2];
    for (const [range, status, bytes, cost] of ranges) {
      expect((await ask(url, range, from)).slice(0, 2)).toEqual([status, bytes]);
      left -= cost + 1;
      expect([range, (await ask(url, '0-1', from))[2]]).toEqual([range, left]);
    }
  });
});

test('the rest of a file that a player does not read does not count', async () => {
  const url = await uploadLarge(24 * 1024 * 1024);
  const from = { authorization: authorizationOf(system.people.member) };
  await withinOneWindow(async () => {
    const left = (await ask(url, '0-1', from))[2];
    const answer = await fetch(system.url + url, { headers: { ...from, range: 'bytes=0-' } });
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    // The limit allows for bytes in the buffers of the connection.
    expect(left - (await ask(url, '0-1', from))[2]).toBeLessThan(20);
  });
});
