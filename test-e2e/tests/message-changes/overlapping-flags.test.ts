import { type Client, countOf, type Json, noticesSent, openRealm, type Realm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { overlapping } from '../../overlapping.ts';
import { channel } from '../channels/setting.ts';

let realm: Realm;
let open: number;
let hidden: number;

beforeAll(async () => {
  realm = await openRealm();
  const { owner, member } = realm;
  open = await channel(owner, [owner, member]);
  hidden = await channel(owner, [owner], { invite_only: true });
  await noticesSent(realm.id);
});

/** The answer, or the text of a refusal. Requests that waited too long for the clock are repeated. */
const answerOf = (who: Client, method: string, path: string, form: Json): Promise<Json | string> =>
  who.ok(method, path, form).catch((error: Error) => error.message);
const removals = {
  deletion: (id: number) => answerOf(realm.owner, 'DELETE', `/messages/${id}`, {}),
  move: (id: number) => answerOf(realm.owner, 'PATCH', `/messages/${id}`, { stream_id: hidden }),
};
const mark = (id: number, op: string, flag: string) =>
  answerOf(realm.member, 'POST', '/messages/flags', { messages: [id], op, flag });
const flags = {
  starred: (id: number) => mark(id, 'add', 'starred'),
  unread: (id: number) => mark(id, 'remove', 'read'),
  collapsed: (id: number) => {
    const page = { anchor: id, num_before: 0, num_after: 0, narrow: [['channel', open]] };
    return answerOf(realm.member, 'POST', '/messages/flags/narrow', { ...page, op: 'add', flag: 'collapsed' });
  },
};
const success = expect.objectContaining({ result: 'success' });
const pairs = (['deletion', 'move'] as const).flatMap((removal) =>
  (['starred', 'unread', 'collapsed'] as const).map((flag) => ({ removal, flag })),
);

async function sent(): Promise<number> {
  const { id } = await realm.owner.ok('POST', '/messages', { type: 'channel', to: open, topic: 't', content: 'x' });
  await realm.member.ok('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
  return id;
}
const rowsOf = (id: number): Promise<number> =>
  countOf('messaging.flag', `realm_id = ${realm.id} AND message_id = ${id}`);

test.each(pairs)('a $removal before its commit refuses the flag $flag', async ({ removal, flag }) => {
  let id = 0;
  const [removed, flagged] = await overlapping(realm.id, async () => {
    id = await sent();
    return [() => removals[removal](id), () => flags[flag](id)];
  });
  expect(removed).toEqual(success);
  if (flag === 'collapsed') expect(flagged).toMatchObject({ processed_count: 1, updated_count: 0 });
  else expect(flagged).toContain('Invalid message(s)');
  expect(await rowsOf(id)).toBe(0);
});

test.each(pairs)('a $removal removes the flag $flag that is not yet committed', async ({ removal, flag }) => {
  let id = 0;
  const answers = await overlapping(realm.id, async () => {
    id = await sent();
    return [() => flags[flag](id), () => removals[removal](id)];
  });
  expect(answers).toEqual([success, success]);
  expect(await rowsOf(id)).toBe(0);
});
