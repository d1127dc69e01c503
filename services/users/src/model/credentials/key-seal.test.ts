import { expect, test } from 'vitest';
import { createKeySeal, type KeySeal } from './key-seal.ts';

test('a key can be opened only with the secret that sealed it or with the next one', () => {
  const [old, rotated, later] = [createKeySeal('one'), createKeySeal('two', 'one'), createKeySeal('three', 'two')];
  const sealed = old.seal('a key');
  expect([old, rotated, later].map((seal) => seal.open(sealed))).toEqual(['a key', 'a key', '']);
  const renewed = rotated.renew(sealed) ?? '';
  expect([old, rotated, later, createKeySeal('two')].map((seal) => seal.open(renewed))).toEqual([
    '',
    'a key',
    'a key',
    'a key',
  ]);
  // A value is not resealed if it is current or cannot be opened.
  expect([rotated.renew(renewed), later.renew(sealed), old.renew(sealed)]).toEqual([undefined, undefined, undefined]);
  expect(rotated.open(`${renewed.slice(0, -4)}AAAA`)).toBe('');
  expect([old.hasPrevious, rotated.hasPrevious, createKeySeal('one', 'one').hasPrevious]).toEqual([false, true, false]);
});

test('in each step of a rotation, processes with the settings of the step before and of the step after accept both secrets', () => {
  const steps = [createKeySeal('one'), createKeySeal('one', 'two'), createKeySeal('two', 'one'), createKeySeal('two')];
  for (const [index, before] of steps.slice(0, -1).entries()) {
    const after = steps[index + 1] as KeySeal;
    for (const [writer, reader] of [
      [before, after],
      [after, before],
    ] as const) {
      expect(reader.open(writer.seal('a key')), `step ${index}`).toBe('a key');
      expect(reader.fingerprint('a request'), `step ${index}`).toContain(writer.fingerprint('a request')[0]);
    }
  }
});

test('a request that was fingerprinted with the former secret is recognized with the next one, and with no other', () => {
  const [stored] = createKeySeal('one').fingerprint('a request');
  expect(createKeySeal('two', 'one').fingerprint('a request')).toContain(stored);
  expect(createKeySeal('three', 'two').fingerprint('a request')).not.toContain(stored);
  const [current] = createKeySeal('two', 'one').fingerprint('a request');
  expect(createKeySeal('two').fingerprint('a request')).toEqual([current]);
});
