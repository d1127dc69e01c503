import { expect, test } from 'vitest';
import { authorizationOf, request } from '../../api.ts';
import { withinOneWindow } from '../../one-window.ts';
import { system } from './system.ts';

const size = 5 * 1024 * 1024;

/** The address at which everybody may read an uploaded file for a while. */
async function uploadLarge(): Promise<string> {
  const { member } = system.people;
  const form = new FormData();
  form.set('file', new File([new Uint8Array(size)], 'film.mp4', { type: 'video/mp4' }));
  const headers = { authorization: authorizationOf(member) };
  const uploaded = await fetch(`${system.url}/api/v1/user_uploads`, { method: 'POST', headers, body: form });
  const { url } = (await uploaded.json()) as { url: string };
  return (await request(system.url, member, `GET ${url}`)).body.url;
}

test('a range of a file counts by its own size in started MiB', async () => {
  const url = await uploadLarge();
  /** The state of the budget after a request from a network. */
  const ask = async (from: string, range: string | undefined): Promise<[number, number, number]> => {
    const headers = { 'x-forwarded-for': from, ...(range === undefined ? {} : { range: `bytes=${range}` }) };
    const answer = await fetch(system.url + url, { headers });
    const { byteLength } = await answer.arrayBuffer();
    return [answer.status, byteLength, Number(answer.headers.get('x-ratelimit-remaining'))];
  };
  const ranges = [
    ['0-1', 206, 2, 1],
    [`${size - 2}-`, 206, 2, 1],
    ['-1048577', 206, 1_048_577, 2],
    ['0-', 206, size, 5],
    [undefined, 200, size, 5],
    [`${size}-`, 416, 0, 1],
  ] as const;
  let host = 1;
  await withinOneWindow(async () => {
    const from = `198.51.100.${host++}`;
    let left = (await ask(from, '0-1'))[2];
    for (const [range, status, bytes, cost] of ranges) {
      left -= cost;
      expect([range, ...(await ask(from, range))]).toEqual([range, status, bytes, left]);
    }
  });
});
