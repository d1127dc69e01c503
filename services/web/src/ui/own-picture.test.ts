import { expect, test } from 'vitest';
import { isOwnPicture } from './own-picture.ts';

test.each(['/user_uploads/1/a.png', '/external_content/a/b', '/user_avatars/emoji/1', '/static/a//b?c=//d'])(
  '%j is a picture of this server',
  (path) => {
    expect(isOwnPicture(path)).toBe(true);
  },
);

test.each([
  '',
  'a.png',
  '//evil.example/a',
  '/\\evil.example/a',
  '/\t/evil.example',
  '/\n\\evil.example',
  'https://evil.example',
  '/json/users',
  '/user_uploads/../json/users/x.png',
  '/user_uploads/%2e%2e/json/users/x.png',
  '/user_uploads\\..\\json/x.png',
])('%j is not a picture of this server', (address) => {
  expect(isOwnPicture(address)).toBe(false);
});
