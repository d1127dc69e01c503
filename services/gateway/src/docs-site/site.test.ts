import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ErrorCode, errorCauses, errorStatus, featureLevel, operations, publicEvents } from '@natter/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asyncApi } from '../api-docs/async-api.ts';
import { openApi } from '../api-docs/open-api.ts';
import { partOfEvent } from './pages.ts';
import { samplesOf } from './samples.ts';

const run = promisify(execFile);
let folder: string;
const files = new Map<string, string>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'natter-docs-'));
  await run(process.execPath, [join(import.meta.dirname, 'build.ts'), folder]);
  for (const name of await readdir(folder)) files.set(name, await readFile(join(folder, name), 'utf8'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pages = (): [string, string][] => [...files].filter(([name]) => name.endsWith('.html'));
const idsOf = (text: string): string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

/** Whether an address of the site leads to a file and, where it names one, to a part of it. */
function leads(address: string, from: string): boolean {
  const [name = '', part] = address.split('#');
  const text = files.get(name === '' ? from : name);
  return text !== undefined && (part === undefined || idsOf(text).includes(part));
}

test('the static site has a page for each guide and topic, and all its links have targets', () => {
  for (const name of ['index', 'first-bot', 'following', 'messages', 'people', 'events', 'event-types'])
    expect([...files.keys()]).toContain(`${name}.html`);
  for (const [name, text] of pages()) {
    const ids = idsOf(text);
    expect([name, ids.filter((id, i) => ids.indexOf(id) !== i)]).toEqual([name, []]);
    const links = [...text.matchAll(/ (?:href|src|data-search)="([^"]+)"/g)].map(([, address = '']) => address);
    const own = links.filter((address) => !/^https:\/\/(?:github\.com\/natter-chat|www\.)/.test(address));
    expect([name, own.filter((address) => !leads(address, name))]).toEqual([name, []]);
    expect(text).not.toMatch(/<script>|<style|style="| on\w+="/);
  }
});

test('the guide of feature levels has the level of this server and names only parts of the API', () => {
  const page = files.get('feature-levels.html') ?? '';
  expect(page).toContain(`This server has feature level ${featureLevel}.`);
  const api = JSON.stringify([openApi(), asyncApi()]);
  const rows = [...page.matchAll(/<tr>\n<td>.*?<\/tr>/gs)].map(([row]) => row);
  const names = rows.flatMap((row) => [...row.matchAll(/<code>([A-Za-z_/]+)<\/code>/g)].map(([, name = '']) => name));
  expect(rows.length).toBeGreaterThan(30);
  expect(names.filter((name) => !new RegExp(`["\`/]${name}["\`/]`).test(api))).toEqual([]);
});

test('the guide of limits and errors lists every code with its status and cause', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../guides/limits.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| `([A-Z_]+)` *\| (\d+) *\| (.+?) *\|$/gm)];
  const expected = Object.entries(errorStatus).map(([code, status]) => [code, status, errorCauses[code as ErrorCode]]);
  expect(rows.map(([, code, status, cause]) => [code, Number(status), cause]).sort()).toEqual(expected.sort());
});

test('every operation and every event has a section of a page, and the search finds it', () => {
  const found = new Set(
    (JSON.parse(files.get('search.json') ?? '[]') as string[][]).map(([, , address = '']) => address),
  );
  expect([...found].filter((address) => !leads(address, ''))).toEqual([]);
  const parts = new Set([...found].map((address) => address.split('#')[1]));
  for (const { name, http, isAlias } of operations) if (http && !isAlias) expect(parts).toContain(name);
  for (const name of publicEvents.keys()) expect(found).toContain(`event-types.html#${partOfEvent(name)}`);
});

test('files of a static site do not offer to send requests', () => {
  for (const [, text] of pages()) expect(text).toMatch(/<body data-search="search.json">/);
});

test('samples in three languages send the same request', () => {
  const operation = operations.find(({ name }) => name === 'update-message-flags');
  if (!operation) throw new Error('no such operation');
  const [curl, typescript, python] = samplesOf(operation).map(({ code }) => code);
  expect(curl).toBe(`curl -X POST https://chat.example.com/api/v1/messages/flags \\
  -u ada@example.com:API_KEY \\
  --data-urlencode 'op=add' \\
  --data-urlencode 'flag=starred' \\
  --data-urlencode 'messages=[4096]'`);
  expect(typescript).toContain("await client.updateFlags({ op: 'add', flag: 'starred', messages: [4096] });");
  expect(python).toContain('"messages": json.dumps([4096]),');
  const upload = operations.find(({ name }) => name === 'append-resumable-upload');
  expect(upload && samplesOf(upload).map(({ code }) => code)).toEqual([
    expect.stringMatching(/-X PATCH .*\/tus\/\S+ \\\n {2}-u .*-H 'Upload-Offset: 0' .*--data-binary @picture\.png$/s),
    expect.stringMatching(/headers=\{.*"Upload-Offset": "0",.*data=open\("picture\.png", "rb"\),/s),
  ]);
});
