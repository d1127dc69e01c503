import { type Actor, type Operation, operations, roles } from '@natter/contracts';
import { expect, test } from 'vitest';
import { checkCaller } from './check-caller.ts';

const addRealmIcon = operations.find(({ name }) => name === 'add-realm-icon') as Operation;
const actor = (role: keyof typeof roles, more: Partial<Actor> = {}): Actor => ({
  ...{ realmId: 1, userId: 5, email: '', role: roles[role], isBot: false, keyId: '', groupIds: [], basis: {} },
  ...more,
});
/** Fails if the actor is read again. */
const never = async (): Promise<Actor> => {
  throw new Error('read again');
};

test('an actor that was promoted after it was cached is not refused', async () => {
  const promoted = actor('administrator');
  expect(await checkCaller(addRealmIcon, actor('member'), async () => promoted)).toEqual({
    actor: promoted,
    refusal: undefined,
  });
});

test('a request is refused for its role only after the actor was read again', async () => {
  const { refusal } = await checkCaller(addRealmIcon, actor('guest'), async () => actor('guest'));
  expect(refusal?.message).toBe('Must be an organization administrator');
});

test('a permitted actor is not looked up again', async () => {
  expect((await checkCaller(addRealmIcon, actor('owner'), never)).refusal).toBeUndefined();
});

test('a bot is refused for its kind, or for its key if that has ended', async () => {
  const webhook = actor('member', { isBot: true, isWriteOnly: true });
  expect((await checkCaller(addRealmIcon, webhook, async () => webhook)).refusal?.message).toBe(
    'This API is not available to incoming webhook bots.',
  );
  await expect(checkCaller(addRealmIcon, webhook, never)).rejects.toThrow('read again');
});
