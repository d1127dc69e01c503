import type { Owner } from '@natter/service-kit';
import type { Units } from '../../../libs/service-kit/src/writes.ts';

/** A deliberate defect in the product, to verify that the simulation detects it. */
export interface Breakage {
  units?: (units: Units) => Units;
  owner?: (owner: Owner) => Owner;
}

export const breakages = {
  /** A repeated write is executed again. */
  'forgets the keys of writes': {
    units: (units) => ({
      ...units,
      commit: (realmId, decided) => units.commit(realmId, { ...decided, claim: undefined }),
      unitOfWork: (options, handler) => units.unitOfWork({ ...options, claim: undefined }, handler),
    }),
  },
  /** A write is committed on outdated versions. */
  'ignores what a decision rests on': {
    units: (units) => ({ ...units, commit: (realmId, decided) => units.commit(realmId, { ...decided, expected: {} }) }),
  },
  /** The effect of an event is committed separately from the position. */
  'applies events in a transaction of their own': {
    owner: (owner) => ({
      ...owner,
      consume: ({ on, ...options }) => {
        const apart = Object.entries(on).map(([name, act]) => [
          name,
          (work: { realmId: number }, event: never, number: number) =>
            owner.background(work.realmId, (own) => act(own, event, number)),
        ]);
        return owner.consume({ ...options, on: Object.fromEntries(apart) });
      },
    }),
  },
} satisfies Record<string, Breakage>;
