import { expect, test, vi } from 'vitest';
import { keepTopic, keptTopic } from './kept-topics.ts';

test('the topic of a new message is kept for its channel and writer, also after a reload', async () => {
  const entries = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => entries.get(name) ?? null,
    setItem: (name: string, text: string) => void entries.set(name, text),
    removeItem: (name: string) => void entries.delete(name),
  });
  keepTopic(7, 1, 'a new topic');
  expect([keptTopic(7, 1), keptTopic(7, 2), keptTopic(8, 1)]).toEqual(['a new topic', '', '']);
  vi.resetModules();
  const reloaded = await import('./kept-topics.ts');
  expect(reloaded.keptTopic(7, 1)).toBe('a new topic');
  reloaded.keepTopic(7, 1, '');
  expect([reloaded.keptTopic(7, 1), entries.size]).toEqual(['', 0]);
  vi.unstubAllGlobals();
});

test('the topic of a new message is kept on a page whose browser stores nothing', () => {
  keepTopic(9, 1, 'a new topic');
  expect(keptTopic(9, 1)).toBe('a new topic');
});
