import { expect, test } from 'vitest';
import { changesOf, followed } from './use-form.ts';

const known = { name: 'garden', description: 'Plants' };

test('a form tells changed values alone', () => {
  expect(changesOf(known, known)).toEqual({});
  expect(changesOf(known, { ...known, description: '' })).toEqual({ description: '' });
});

test('a field that nobody edits follows the value of somebody else, and an edited one keeps its text', () => {
  const state = { known, before: known, values: { ...known, description: 'Trees' } };
  const renamed = followed(state, { ...known, name: 'orchard' });
  expect(renamed.values).toEqual({ name: 'orchard', description: 'Trees' });
  expect(changesOf(renamed.before, renamed.values)).toEqual({ description: 'Trees' });
  const both = followed(renamed, { name: 'orchard', description: 'Flowers' });
  expect(changesOf(both.before, both.values)).toEqual({ description: 'Trees' });
  expect(followed(both, { name: 'orchard', description: 'Flowers' })).toBe(both);
});
