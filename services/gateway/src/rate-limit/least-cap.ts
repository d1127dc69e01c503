/** The cap of a realm that costs this gateway less than this per user, within these limits, is not lowered from 1. */
const [highCostOfPersonMs, minHighCostMs, maxHighCostMs] = [5, 200, 1_000];
const minCap = 0.05;
/** The minimum fraction of time per user of a realm, so that a large realm keeps more than a small one. */
const capOfPerson = 0.001;

interface Realm {
  cap: number;
  /** Recent CPU milliseconds beyond those that any request may take. */
  cost: { sum: number };
  people: { size: number };
}

/** How far the cap of a realm may be lowered at present. */
export function leastCapOf({ cap, cost, people }: Realm): number {
  // Requests without an account have one realm, and the logins of all organizations are among them.
  if (people.size === 0) return 1;
  const highCostMs = Math.min(maxHighCostMs, Math.max(minHighCostMs, people.size * highCostOfPersonMs));
  if (cap >= 1 && cost.sum <= highCostMs) return 1;
  return Math.min(1, Math.max(minCap, people.size * capOfPerson));
}
