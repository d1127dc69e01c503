import { operations } from '@natter/contracts';
import { expect, test } from 'vitest';
import { createRouter } from './router.ts';

const router = createRouter(operations);
const found = (method: string, path: string) => {
  const at = router.find(`/api/v1${path}`)?.operation(method);
  return at && [at.operation.name, at.path];
};

test('the slashes in a fragment of a navigation view may be plain or escaped', () => {
  const [, inOne] = found('PATCH', '/navigation_views/inbox') ?? [];
  expect(inOne).toEqual({ fragment: 'inbox' });
  const operation = found('PATCH', '/navigation_views/inbox')?.[0];
  for (const path of ['narrow%2Fis%2Fstarred', 'narrow/is/starred'])
    expect(found('PATCH', `/navigation_views/${path}`)).toEqual([operation, { fragment: 'narrow/is/starred' }]);
  expect(found('DELETE', '/navigation_views/narrow/has/reaction/sender/me')?.[1]).toEqual({
    fragment: 'narrow/has/reaction/sender/me',
  });
});

test('repeated slashes of a path count as one', () => {
  expect(found('POST', '//user_topics')).toEqual(found('POST', '/user_topics'));
  expect(found('GET', '//users///me/')).toEqual(found('GET', '/users/me'));
  expect(router.find('//api/v1//users')?.operation('GET')).toEqual(router.find('/api/v1/users')?.operation('GET'));
  expect(router.find('///api/v1/users')).toBeDefined();
});

test('other paths end where their template ends', () => {
  expect(found('GET', '/messages/1/2/3')).toBeUndefined();
  expect(found('GET', '/users/me/nothing/here')).toBeUndefined();
});
