import { expect, test } from 'vitest';
import { isOwnPath } from './own-path.ts';

test.each(['/', '/user_uploads/1/a.png', '/external_content/a/b', '/a//b', '/a?b=//c'])(
  '%j is a path of this server',
  (path) => {
    expect(isOwnPath(path)).toBe(true);
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
])('%j is not a path of this server', (address) => {
  expect(isOwnPath(address)).toBe(false);
});
