import { describe, expect, test } from 'vitest';
import { htmlDiff } from './html-diff.ts';

describe('the difference of two HTML texts', () => {
  test.each([
    ['<p>same</p>', '<p>same</p>', '<p>same</p>'],
    [
      '<p>a cat</p>',
      '<p>a dog</p>',
      '<p>a <span class="highlight_text_inserted">dog</span> <span class="highlight_text_deleted">cat</span></p>',
    ],
    ['<p>one</p>', '<p>one two</p>', '<p>one<span class="highlight_text_inserted"> two</span></p>'],
    ['<p>one two</p>', '<p>one</p>', '<p>one<span class="highlight_text_deleted"> two</span></p>'],
    ['<p>plain</p>', '<p><strong>plain</strong></p>', '<p><strong>plain</strong></p>'],
    ['<p>see <a href="/a">it</a></p>', '<p>see <a href="/a">it</a></p>', '<p>see <a href="/a">it</a></p>'],
    [
      '<p>see <a href="/a">it</a></p>',
      '<p>see <a title="x" href="/b">it</a></p>',
      '<p>see <a title="x" href="/b">it<span class="highlight_text_inserted"> Link: /b .</span> <span class="highlight_text_deleted"> Link: /a .</span></a></p>',
    ],
  ])('%s and %s', (before, after, expected) => {
    expect(htmlDiff(before, after)).toBe(expected);
  });

  test('takes bounded CPU time for texts without common parts', () => {
    const text = (seed: number): string =>
      Array.from({ length: 3_000 }, (_, index) => `<b>${(index * seed) % 997}</b>`).join('');
    const started = process.threadCpuUsage();
    const difference = htmlDiff(text(7), text(13));
    const { user } = process.threadCpuUsage(started);
    expect(user / 1_000).toBeLessThan(2_000);
    expect(difference).toContain('highlight_text_deleted');
  });
});
