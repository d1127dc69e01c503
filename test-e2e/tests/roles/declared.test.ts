import { openRealm } from '@natter/testkit';
import { beforeAll, expect, test } from 'vitest';
import { callerOf, type Letter, nextNumber, openWorld, send, tables, type World } from './world.ts';

/** The permitted callers of an operation according to `/openapi.json`. */
interface Callers {
  caller: 'public' | 'spectator' | 'user' | 'human';
  minimumRole?: 'owner' | 'administrator' | 'moderator' | 'member';
  permission?: string;
}

const rolesFrom = { owner: 'o', administrator: 'oa', moderator: 'oam', member: 'oamu' } as const;
const texts = {
  owner: 'Must be an organization owner',
  administrator: 'Must be an organization administrator',
  moderator: 'Must be an organization moderator',
  member: 'Not allowed for guest users',
} as const;
/** Excludes the alias of a path, which is not documented. */
const rows = Object.entries(tables).filter(([operation]) => !operation.includes('{realm_id_str}/{folder}'));
const botText = 'This endpoint does not accept bot requests.';

let world: World;
let declared: Record<string, Callers>;

beforeAll(async () => {
  world = await openWorld(await openRealm());
  const { body } = await world.realm.spectator.get('//openapi.json');
  const operations = Object.entries<Record<string, { servers?: unknown; 'x-callers': Callers }>>(body.paths);
  declared = Object.fromEntries(
    operations.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { servers, 'x-callers': callers }]) => [
        `${method.toUpperCase()} ${servers ? '/' : ''}${path}`,
        callers,
      ]),
    ),
  );
});

/** Letters of the table that the declaration excludes. A bot of the table has the role of a member. */
function excluded({ caller, minimumRole }: Callers): Letter[] {
  const allowed: string = minimumRole ? rolesFrom[minimumRole] : 'oamug';
  const byRole = (['o', 'a', 'm', 'u', 'g'] as const).filter((letter) => !allowed.includes(letter));
  const isBotExcluded = caller === 'human' || !allowed.includes('u');
  const isAsked = caller === 'user' || caller === 'human';
  return [...byRole, ...(isBotExcluded ? (['b'] as const) : []), ...(isAsked ? (['s', 'd'] as const) : [])];
}

test('the tables do not permit a caller whom the contract excludes', () => {
  const wrong = rows.flatMap(([operation, [may]]) =>
    excluded(declared[operation] as Callers)
      .filter((letter) => may.includes(letter))
      .map((letter) => `${operation}: ${letter}`),
  );
  expect(wrong).toEqual([]);
});

test('operations that only administrators or owners may call declare a minimum role, unless a permission decides', () => {
  const byRole = rows.filter(([, [may]]) => /^(o|oa|ox|oax)$/.test(may));
  const undeclared = byRole.map(([operation]) => operation).filter((operation) => !declared[operation]?.minimumRole);
  // Decided by a permission of the realm, the channel or the message, or by authorship.
  expect(undeclared.sort()).toEqual([
    'DELETE /invites/multiuse/{invite_id}',
    'DELETE /messages/{message_id}',
    'DELETE /realm/emoji/{emoji_name}',
    'DELETE /streams/{stream_id}',
    'PATCH /invites/multiuse/{invite_id}',
    'PATCH /streams/{stream_id}',
    'POST /invites/multiuse',
    'POST /streams/{stream_id}/delete_topic',
  ]);
});

test.each(rows)('%s returns the reason to each caller whom it excludes', async (operation, [, row = {}]) => {
  const callers = declared[operation] as Callers;
  const refused = excluded(callers).filter((letter) => !['s', 'd'].includes(letter));
  for (const letter of refused) {
    const who = await callerOf(letter, row, world);
    const { status, body } = await send(operation, who, row, { ...world, own: world.realm.member, n: nextNumber() });
    const ofBots = operation === 'POST /users/me/presence' ? 'Presence is not supported for bot users.' : botText;
    const isBot = letter === 'b' && callers.caller === 'human';
    const expected = isBot ? ofBots : texts[callers.minimumRole ?? 'member'];
    expect([letter, status, body.code, body.msg]).toEqual([letter, 400, 'BAD_REQUEST', expected]);
  }
});
