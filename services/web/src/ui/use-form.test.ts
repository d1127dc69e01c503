import { expect, test } from 'vitest';
import { changesOf, followed, saved } from './use-form.ts';

const known = { name: 'garden', description: 'Plants' };
const orchard = { ...known, name: 'orchard' };

test('the changes of a form are the values that differ', () => {
  expect(changesOf(known, known)).toEqual({});
  expect(changesOf(known, { ...known, description: '' })).toEqual({ description: '' });
});

test('a field that nobody edits follows the value of somebody else, and an edited one keeps its text', () => {
  const state = { known, before: known, values: { ...known, description: 'Trees' } };
  const renamed = followed(state, { ...known, name: 'orchard' });
  expect(renamed.values).toEqual({ name: 'orchard', description: 'Trees' });
  expect(changesOf(renamed.before, renamed.values)).toEqual({ description: 'Trees' });
  const both = followed(renamed, { name: 'orchard', description: 'Flowers' });
  expect(both.values).toEqual({ name: 'orchard', description: 'Trees' });
  expect(changesOf(both.before, both.values)).toEqual({ description: 'Trees' });
  expect(followed(both, { name: 'orchard', description: 'Flowers' })).toBe(both);
});

test('an edited field is not changed if somebody else gives it the same value', () => {
  const { before, values } = followed({ known, before: known, values: { ...known, name: 'orchard' } }, orchard);
  expect(changesOf(before, values)).toEqual({});
});

test('an edited field that gets its first value back is changed if somebody else changed it meanwhile', () => {
  const { before, values } = followed({ known, before: known, values: { ...known, name: 'garden!' } }, orchard);
  expect(changesOf(before, { ...values, name: 'garden' })).toEqual({ name: 'garden' });
});

test('after a save, a field is changed if it differs from what was sent', () => {
  const state = { known, before: known, values: { ...known, name: 'orchards' } };
  const { before, values } = saved(state, { name: 'orchard' }, known);
  expect(changesOf(before, values)).toEqual({ name: 'orchards' });
  expect(changesOf(before, { ...values, name: 'garden' })).toEqual({ name: 'garden' });
  expect(changesOf(before, { ...values, name: 'orchard' })).toEqual({});
});

test('after a save, a field has the value that became known during the request, except if it was edited again', () => {
  const sent = { name: 'orchard ' };
  const state = followed({ known, before: known, values: { ...known, ...sent } }, orchard);
  expect(saved(state, sent, known)).toEqual({ known: orchard, before: orchard, values: orchard });
  const again = saved({ ...state, values: { ...known, name: 'field' } }, sent, known);
  expect(changesOf(again.before, again.values)).toEqual({ name: 'field' });
  expect(changesOf(again.before, { ...again.values, ...sent })).toEqual(sent);
});

test('an edited field shows what was merged with the value of somebody else', () => {
  const merge = ({ before, values }: { before: typeof known; values: typeof known }, { name }: typeof known) => ({
    name: `${name} ${before.name} ${values.name}`,
    description: 'Merged',
  });
  const state = followed({ known, before: known, values: { ...known, name: 'field' } }, orchard, merge);
  expect(state.values).toEqual({ name: 'orchard garden field', description: 'Plants' });
  expect(followed({ known, before: known, values: known }, orchard, merge).values).toEqual(orchard);
});
