import { expect, test } from 'vitest';
import { targetAfterLogin } from './login.ts';

const targetOf = (pathname: string, search = '', hash = '') => targetAfterLogin({ pathname, search, hash });

test('a login leads to the page and the conversation of the address, and never to another server', () => {
  const link = '#narrow/channel/2-general/topic/welcome';
  expect(targetOf('/', '', link)).toBe(`/${link}`);
  expect(targetOf('/channel/2', '?near=5')).toBe('/channel/2?near=5');
  expect(targetOf('/', '', '#compose')).toBe('/');
  expect(targetOf('//evil.example/a', '?b', link)).toBe(`/${link}`);
});

test('an address that is too long for the page to log in loses its end', () => {
  const long = 'a'.repeat(1_000);
  expect(targetOf('/inbox', '?near=5', `#narrow/topic/${long}`)).toBe('/inbox?near=5');
  expect(targetOf('/search', `?q=${long}`)).toBe('/');
});
