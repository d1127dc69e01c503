import { expect, test } from 'vitest';
import { Pairs } from './pairs.ts';

const range = (first: number, count: number): number[] => Array.from({ length: count }, (_, n) => first + n);

test('pairs exclude each guest with themselves and all removed pairs', () => {
  const guests = [3, 70, 500];
  const people = range(1, 70);
  const pairs = new Pairs(guests, people);
  pairs.remove(70, [1, 32, 33, 64, 65, 999]);
  pairs.remove(999, [2]);
  pairs.remove(500, people);
  expect(pairs.peopleOf(3)).toEqual(people.filter((id) => id !== 3));
  expect(pairs.peopleOf(70)).toEqual(people.filter((id) => ![1, 32, 33, 64, 65, 70].includes(id)));
  expect([pairs.peopleOf(500), pairs.peopleOf(999)]).toEqual([[], []]);
  expect([3, 32, 34, 70, 999].map((id) => pairs.guestsOf(id))).toEqual([[70], [3], [3, 70], [3], []]);
  expect(pairs.paired()).toEqual(people);
  expect(new Pairs([], people).paired()).toEqual([]);
  expect(new Pairs(guests, []).paired()).toEqual([]);
});

test('guests who are paired with the same of the given users are listed together', () => {
  const pairs = new Pairs(range(1, 5), range(1, 100));
  pairs.remove(2, [40, 90]);
  pairs.remove(3, [40, 90, 91]);
  pairs.remove(5, range(1, 100));
  const alike = (people: number[]) =>
    pairs.alike(people).map(({ guests, isAll, people: of }) => ({ guests, isAll, are: of(true), others: of(false) }));
  expect(alike([90, 40, 41])).toEqual([
    { guests: [1, 4], isAll: true, are: [90, 40, 41], others: [] },
    { guests: [2, 3], isAll: false, are: [41], others: [90, 40] },
  ]);
  expect(alike([91])).toEqual([{ guests: [1, 2, 4], isAll: true, are: [91], others: [] }]);
  expect(alike([91, 999])).toEqual([{ guests: [1, 2, 4], isAll: false, are: [91], others: [999] }]);
  expect(alike([])).toEqual([]);
});
