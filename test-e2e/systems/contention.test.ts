/**
 * Many clients change the same realm at once. `CLIENTS=64 PAIRS=all` runs every pair of kinds of requests with 64
 * clients; by default a few pairs with fewer clients are run.
 */
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kind, kindsAt, type Outcome, preparePlace, runTogether } from '../contention.ts';
import { randomOf } from '../kills.ts';
import { openSystem } from '../open-system.ts';

const clients = Number(process.env.CLIENTS ?? 16);
const pairs = process.env.PAIRS ?? '10';
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const ms = Number(process.env.MS ?? 1_000);

let system: System;
let kinds: Kind[];
beforeAll(async () => {
  system = await openSystem({ env: { NATTER_RATE_LIMIT_REALM: '100000000' } });
  kinds = kindsAt(await preparePlace(system, clients));
});
afterAll(() => system?.stop());

/** Caused by another request on the same group or user, not by a missing right of the caller. */
const trueConflict =
  /already a (sub|member)|not a subgroup|no user .* in this user group|deactivated|in use|Invalid user|user group\b.*\bInvalid|No such user|Invalid user group/i;

function check(outcomes: readonly Outcome[]): void {
  const wrong = outcomes.flatMap(({ kind, texts }) =>
    [...texts]
      .filter(([text]) => !/^4/.test(text) || !trueConflict.test(text))
      .map(([text, count]) => `${kind}: ${count} × ${text}`),
  );
  expect(wrong).toEqual([]);
}

const named = (name: string): Kind => {
  const kind = kinds.find((candidate) => candidate.name === name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
};

const names = kindsAt({ system: { people: {} } } as never).map(({ name }) => name);
const all = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));
const random = randomOf(seed);
const chosen =
  pairs === 'all' ? all : Array.from({ length: Number(pairs) }, () => all[Math.floor(random() * all.length)] ?? all[0]);

describe(`requests are not refused because of simultaneous changes in the realm (${clients} clients, seed ${seed})`, () => {
  test.each(names)('%s, by many clients at once', async (name) => {
    const outcomes = await runTogether([{ kind: named(name), clients }], ms);
    check(outcomes);
    // Each client has its own object, so none of its requests is impossible.
    expect(outcomes.map(({ objected }) => objected)).toEqual([0]);
  });

  test.each(chosen.flatMap((pair) => (pair ? [pair] : [])))('%s together with %s', async (one, other) => {
    check(
      await runTogether(
        [named(one), named(other)].map((kind) => ({ kind, clients: clients / 2 })),
        ms,
      ),
    );
  });

  test('all kinds at once', async () => {
    check(
      await runTogether(
        kinds.map((kind) => ({ kind, clients: Math.ceil(clients / 8) })),
        ms * 3,
      ),
    );
  });
});
