import { expect, test, vi } from 'vitest';
import { KeptTopics } from './kept-topics.ts';

test('the topic of a new message is kept for its channel and writer, also after a reload', async () => {
  const entries: Record<string, string> = {};
  const methods = {
    getItem: (name: string) => entries[name] ?? null,
    setItem: (name: string, text: string) => void Reflect.set(entries, name, text),
    removeItem: (name: string) => void Reflect.deleteProperty(entries, name),
  };
  vi.stubGlobal('localStorage', new Proxy(entries, { get: (_, name) => Reflect.get(methods, name) }));
  const topics = new KeptTopics(7, new Set());
  topics.keep(1, 'a new topic');
  expect([topics.get(1), topics.get(2), new KeptTopics(8, new Set()).get(1)]).toEqual(['a new topic', '', '']);
  const [entry = ''] = Object.keys(entries);
  const tab = entry.slice(entry.indexOf('\n') + 1);
  vi.resetModules();
  const reloaded = await import('./kept-topics.ts');
  // The earlier page is still there.
  expect(new reloaded.KeptTopics(7, new Set([tab])).get(1)).toBe('');
  const own = new reloaded.KeptTopics(7, new Set());
  expect([own.get(1), Object.keys(entries).includes(entry)]).toEqual(['a new topic', false]);
  own.keep(1, '');
  expect([own.get(1), Object.keys(entries)]).toEqual(['', []]);
  entries['natter topic 7 1'] = 'of an earlier release';
  expect(new reloaded.KeptTopics(7, new Set()).get(1)).toBe('of an earlier release');
  vi.unstubAllGlobals();
});

test('the topic of a new message is kept on a page whose browser stores nothing', () => {
  const topics = new KeptTopics(9, new Set());
  topics.keep(1, 'a new topic');
  expect(topics.get(1)).toBe('a new topic');
});
