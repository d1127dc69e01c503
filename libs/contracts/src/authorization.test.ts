import { expect, test } from 'vitest';
import { roles } from './model/actor.ts';
import { refusalOf } from './model/authorization.ts';
import { type Operation, operation } from './model/operation.ts';
import { operations } from './operations/index.ts';

const member = { role: roles.member, isBot: false };
const declared = (rules: Partial<Operation>) => operation({ name: 'x', service: 'users', summary: '', ...rules });

test('an actor is refused by kind first, then by role', () => {
  const owners = declared({ caller: 'human', role: 'owner' });
  expect(refusalOf(owners, { role: roles.owner, isBot: false })).toBeUndefined();
  expect(refusalOf(owners, { role: roles.administrator, isBot: false })?.message).toBe('Must be an organization owner');
  expect(refusalOf(owners, { role: roles.owner, isBot: true })?.message).toBe(
    'This endpoint does not accept bot requests.',
  );
  expect(refusalOf(declared({ role: 'administrator' }), member)?.message).toBe('Must be an organization administrator');
  expect(refusalOf(declared({ role: 'member' }), { ...member, role: roles.guest })?.message).toBe(
    'Not allowed for guest users',
  );
  expect(refusalOf(declared({ role: 'member' }), { ...member, isBot: true })).toBeUndefined();
});

test('an incoming webhook bot may call only operations declared for it and public operations', () => {
  const webhook = { ...member, isBot: true, isWriteOnly: true };
  expect(refusalOf(declared({}), webhook)?.message).toBe('This API is not available to incoming webhook bots.');
  expect(refusalOf(declared({ caller: 'spectator' }), webhook)).toBeDefined();
  expect(refusalOf(declared({ isForWriteOnly: true }), webhook)).toBeUndefined();
  expect(refusalOf(declared({ caller: 'public' }), webhook)).toBeUndefined();
});

test('only operations with an actor ask for a role or a permission, on current versions', () => {
  for (const { name, caller, role, permission, botRefusal, projections } of operations) {
    if (role || permission) expect(['user', 'human'], name).toContain(caller);
    if (role || permission || caller === 'human') expect(projections, name).toBe('current');
    if (botRefusal !== undefined) expect(caller, name).toBe('human');
  }
});
