import { expect, test } from 'vitest';
import { afterName } from './status-text.ts';

test('a status goes on after the name of its sender, also where a search marked its words', () => {
  expect(afterName('<p>/me waves at /me</p>')).toBe('<p> waves at /me</p>');
  expect(afterName('<p>/me</p>\n<ul><li>waves</li></ul>')).toBe('<p></p>\n<ul><li>waves</li></ul>');
  const marked = '<p>/<span class="highlight">me</span> <span class="highlight">waves</span></p>';
  expect(afterName(marked)).toBe('<p><span class="highlight"></span> <span class="highlight">waves</span></p>');
  expect(afterName('<p>/menu is served</p>')).toBe('<p>/menu is served</p>');
});
