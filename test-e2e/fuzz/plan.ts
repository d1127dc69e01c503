import type { Operation } from '@natter/contracts';
import { type Random, shuffled } from '../random.ts';
import { type RoleName, roleNames } from './target/world.ts';

/** Relative frequency of operations beside the rounds; default 1. */
const weights: Record<string, number> = {
  'send-message': 30,
  'get-messages': 25,
  'get-events': 15,
  'update-message': 15,
  'update-channel': 10,
  subscribe: 10,
  'add-reaction': 6,
  'update-message-flags': 8,
  'update-message-flags-for-narrow': 8,
  'match-narrow': 6,
  'render-message': 6,
  'create-drafts': 4,
  'edit-draft': 4,
  'create-scheduled-message': 5,
  'set-typing': 4,
  'update-realm': 6,
  'update-settings': 4,
  'update-user-group': 5,
  'create-user-group': 4,
  'update-profile-field': 4,
  'update-own-profile-data': 5,
  'add-linkifier': 4,
  'get-users': 3,
  'get-user': 4,
  'upload-file': 3,
  'get-file': 3,
  register: 1.5,
  // Each costs a password hash, or an account.
  'fetch-api-key': 0.3,
  login: 0.3,
  logout: 0.3,
  'create-user': 0.2,
  join: 0.2,
  'join-by-page': 0.2,
  'set-password': 0.3,
  'create-export': 0.2,
  'deactivate-realm': 0,
};
/** Rounds include these only occasionally, because each ends a realm or a caller. */
const seldom: Record<string, number> = { 'deactivate-realm': 0.5, 'deactivate-self': 0.3 };
/** Share of requests that belong to the rounds. */
const roundShare = 0.4;

export interface Plan {
  next(random: Random): { operation: Operation; role: RoleName };
}

/** Rounds over all pairs of operation and role, so that none is omitted, mixed with requests by weight. */
export function createPlan(operations: readonly Operation[], seed: Random): Plan {
  const pairs = operations.flatMap((operation) => roleNames.map((role) => ({ operation, role })));
  let round: typeof pairs = [];
  const total = operations.reduce((sum, { name }) => sum + (weights[name] ?? 1), 0);
  const ordinary = roleNames.slice(0, roleNames.indexOf('anonymous'));
  const ofRound = (random: Random): (typeof pairs)[number] | undefined => {
    if (round.length === 0) round = shuffled(pairs, seed);
    const pair = round.pop();
    return pair?.role !== 'owner' || random.chance(seldom[pair.operation.name] ?? 1) ? pair : undefined;
  };
  const byWeight = (random: Random): (typeof pairs)[number] | undefined => {
    let at = random.next() * total;
    const operation = operations.find(({ name }) => {
      at -= weights[name] ?? 1;
      return at < 0;
    });
    return operation && { operation, role: random.pick(ordinary) };
  };
  return {
    next(random) {
      for (;;) {
        const found = random.chance(roundShare) || total === 0 ? ofRound(random) : byWeight(random);
        if (found) return found;
      }
    },
  };
}
