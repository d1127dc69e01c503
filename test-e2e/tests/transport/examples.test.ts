import { type Answer, type DocumentedOperation, documentedOperations, openRealm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../roles/cell.ts';
import { callerOf, type Letter, letters, nextNumber, openWorld, tables, type World } from '../roles/world.ts';
import { uploadTo } from '../upload.ts';

let world: World;
let documented: DocumentedOperation[];

beforeAll(async () => {
  world = await openWorld(await openRealm());
  documented = await documentedOperations(world.realm.owner);
});

/** Parameters that refer to objects, which an example cannot contain because each realm has others. */
const references = new Set([
  ...['add', 'data', 'delete', 'email', 'fragment', 'key', 'kind', 'messages', 'msg_ids', 'narrow', 'order'],
  ...['ordered_linkifier_ids', 'password', 'stream', 'stream_ids', 'stream_names', 'subdomain', 'subscribers'],
  ...['subscription_data', 'subscriptions', 'to', 'token', 'username', 'who', 'access', 'domain', 'emoji_name'],
  ...['filename', 'folder', 'members', 'user_id_or_email', 'user_ids', 'realm_id_str'],
]);
const isReference = (name: string): boolean => references.has(name) || name.endsWith('_id');

/** The example with the things of this realm instead of those that it names. */
async function requestOf({ route, example, headers }: DocumentedOperation, row: Row, here: World, letter: Letter) {
  const who = await callerOf(letter, row, here);
  const cell = { ...here, own: who, n: nextNumber() };
  const at = (await row.at?.(cell)) ?? {};
  const form = (await row.form?.(cell, at)) ?? {};
  const named = { ...at, ...form };
  const [method = '', pattern = ''] = route.split(' ');
  const inPath = [...pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const values = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      name in named && (isReference(name) || inPath.includes(name)) ? named[name] : value,
    ]),
  );
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  const fields = Object.fromEntries(Object.entries(values).filter(([name]) => !inPath.includes(name)));
  return (): Promise<Answer> =>
    row.file ? uploadTo(who, path, asTexts(fields)) : who.send(method, path, fields, headers);
}

const asTexts = (fields: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

async function answerTo(operation: DocumentedOperation): Promise<{ answer: Answer; isFor: string }> {
  const [may, row = {}] = tables[operation.route] ?? [''];
  const letter = letters.find((one) => may.includes(one)) ?? 'o';
  const answer = await whenNotBusy(async () => {
    const here = row.isOwnRealm ? await openWorld(world.elsewhere) : world;
    return (await requestOf(operation, row, here, letter))();
  });
  return { answer, isFor: may };
}

/** Repeats a request while the busy server answers with 503, also while an example is prepared. */
async function whenNotBusy(attempt: () => Promise<Answer>): Promise<Answer> {
  for (const end = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
    try {
      const answer = await attempt();
      if (answer.status !== 503 || Date.now() > end) return answer;
    } catch (error) {
      if (Date.now() > end || !String(error).includes('SERVICE_UNAVAILABLE')) throw error;
    }
  }
}

test('the example of every operation gets a response that matches its description', async () => {
  const problems: Record<string, string> = {};
  let succeeded = 0;
  for (const operation of documented) {
    const { answer, isFor } = await answerTo(operation);
    const ignored = answer.body?.ignored_parameters_unsupported;
    const problem =
      operation.problemOf(answer) ??
      (ignored === undefined ? undefined : `parameters were ignored: ${ignored}`) ??
      // Operations that this server refuses to everybody may return a documented error.
      (isFor !== '' && answer.status >= 400 ? `refused: ${JSON.stringify(answer.body)}` : undefined);
    if (problem !== undefined) problems[operation.route] = problem;
    if (answer.status < 400) succeeded++;
  }
  expect(problems).toEqual({});
  expect(succeeded).toBeGreaterThan(160);
});

test('messages with all optional parts match their description', async () => {
  const { member, owner } = world.realm;
  await owner.ok('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'described' }, { name: 'elsewhere' }],
    principals: [owner.user_id, member.user_id],
  });
  const send = (content: string) =>
    member.ok('POST', '/messages', { type: 'channel', to: 'described', topic: 'first', content });
  const { id } = await send('a colourful text');
  await owner.ok('POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
  await owner.ok('POST', '/messages/flags', { op: 'add', flag: 'starred', messages: [id] });
  await member.ok('PATCH', `/messages/${id}`, { content: 'a colourful word' });
  const { stream_id } = await owner.ok('GET', '/get_stream_id', { stream: 'elsewhere' });
  await owner.ok('PATCH', `/messages/${id}`, { stream_id, topic: 'second' });
  await send('/poll Which?\nthis\nthat');
  await member.ok('POST', '/messages', { type: 'direct', to: [owner.user_id], content: 'hello' });
  const kinds = new Set<string>();
  const problems: unknown[] = [];
  const searched = [{ operator: 'search', operand: 'colourful' }];
  for (const narrow of [[], searched])
    for (const apply_markdown of [true, false]) {
      const page = { anchor: 'newest', num_before: 100, num_after: 0, narrow, apply_markdown };
      const answer = await owner.get('/messages', page);
      problems.push(documented.find(({ route }) => route === 'GET /messages')?.problemOf(answer));
      for (const message of answer.body.messages) for (const key of Object.keys(message)) kinds.add(key);
    }
  const one = await owner.get(`/messages/${id}`);
  problems.push(documented.find(({ route }) => route === 'GET /messages/{message_id}')?.problemOf(one));
  expect(problems).toEqual(Array(5).fill(undefined));
  const { message } = one.body;
  expect([message.reactions.length, message.edit_history.length, message.flags]).toEqual([1, 2, ['starred']]);
  for (const key of ['last_edit_timestamp', 'last_moved_timestamp', 'match_content', 'stream_id', 'submessages'])
    expect([...kinds]).toContain(key);
});

test('a response that does not match the description of its operation is detected', async () => {
  const operation = documented.find(({ route }) => route === 'GET /users/me/alert_words');
  const answer = await world.realm.member.get('/users/me/alert_words');
  expect(operation?.problemOf(answer)).toBeUndefined();
  const other = (body: object): Answer => ({ ...answer, body });
  expect(operation?.problemOf(other({ ...answer.body, alert_words: [1] }))).toMatch(/must be string/);
  expect(operation?.problemOf(other({ ...answer.body, more: 1 }))).toMatch(/must NOT have additional properties/);
  expect(operation?.problemOf({ ...answer, status: 418 })).toMatch(/not described/);
});
