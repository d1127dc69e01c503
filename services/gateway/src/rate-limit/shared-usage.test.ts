import { expect, test } from 'vitest';
import { sharesOf } from './shared-usage.ts';

const usage = (ms: number, totalMs: number) => ({ ms, totalMs, isAtFloor: false });
const heavyOf = (
  usages: [number, ReturnType<typeof usage>][],
  crowding: number[] = [],
  unreported: [number, number][] = [],
): number[] => [
  ...sharesOf(new Map(usages), new Map(), {
    crowding: new Set(crowding),
    unreported: new Map(unreported),
  }).heavy.keys(),
];

test('a realm is heavy if its expensive requests cost more than an equal share', () => {
  expect(
    heavyOf([
      [1, usage(900, 1_000)],
      [2, usage(10, 600)],
    ]),
  ).toEqual([1]);
});

test('a realm whose requests together cost less than half of an equal share is not heavy', () => {
  expect(
    heavyOf([
      [1, usage(400, 450)],
      [2, usage(0, 1_600)],
    ]),
  ).toEqual([]);
});

test('while a realm overloads the server, other realms are heavy only if they cost more than it does', () => {
  const [cheaper, dearer, crowd] = [usage(900, 1_000), usage(2_400, 2_500), usage(0, 2_000)];
  expect(
    heavyOf([
      [1, cheaper],
      [2, crowd],
    ]),
  ).toEqual([1]);
  expect(
    heavyOf(
      [
        [1, cheaper],
        [2, crowd],
      ],
      [2],
    ),
  ).toEqual([]);
  expect(
    heavyOf(
      [
        [1, dearer],
        [2, crowd],
      ],
      [2],
    ),
  ).toEqual([1]);
});

test('a realm that overloads the server is heavy itself if its requests are expensive', () => {
  expect(
    heavyOf(
      [
        [1, usage(900, 1_000)],
        [2, usage(0, 600)],
      ],
      [1],
    ),
  ).toEqual([1]);
});

test('the costs at all gateways are added up', () => {
  const here = new Map([
    [1, usage(300, 300)],
    [2, usage(200, 200)],
  ]);
  const elsewhere = new Map([[2, usage(400, 400)]]);
  expect(sharesOf(here, elsewhere, { crowding: new Set(), unreported: new Map() }).heavy).toEqual(
    new Map([[2, usage(600, 600)]]),
  );
});

test('realms that only get requests without an account make no other realm heavy', () => {
  const busy: [number, ReturnType<typeof usage>][] = [
    [1, usage(5_000, 5_000)],
    [2, usage(450, 450)],
    [3, usage(300, 300)],
    [-1, usage(0, 20)],
  ];
  const visited = Array.from({ length: 20 }, (_, index): (typeof busy)[number] => [100 + index, usage(0, index / 20)]);
  expect(heavyOf([...busy, ...visited])).toEqual(heavyOf(busy));
  expect(heavyOf(busy)).toEqual([1]);
});

test('the only realm that costs anything is heavy while another one is active', () => {
  const costly: [number, ReturnType<typeof usage>] = [1, usage(900, 1_000)];
  expect(heavyOf([costly])).toEqual([]);
  expect(heavyOf([costly, [2, usage(0, 0)]])).toEqual([1]);
});

test('realms are not heavy beside unreported work of other realms that costs at least as much as their requests together', () => {
  const dear = (id: number, ms: number): [number, ReturnType<typeof usage>] => [id, usage(ms, ms)];
  const light = [10, 11, 12, 13].map((id) => dear(id, 50));
  expect(heavyOf([dear(1, 4_000), ...light], [], [[9, 5_000]])).toEqual([]);
  expect(heavyOf([dear(1, 4_000), ...light], [], [[9, 3_000]])).toEqual([1]);
  expect(heavyOf([dear(1, 3_000), dear(2, 3_000), ...light], [], [[9, 5_000]])).toEqual([1, 2]);
  // A realm is not spared for its own work.
  expect(heavyOf([dear(1, 4_000), ...light], [], [[1, 5_000]])).toEqual([1]);
  expect(heavyOf([dear(1, 4_000), dear(2, 3_000), ...light], [], [[1, 5_000]])).toEqual([1]);
});
