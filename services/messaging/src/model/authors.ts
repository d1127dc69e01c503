import { type Actor, type RequestMeta, userOperations } from '@natter/contracts';
import type { Bus } from '@natter/service-kit';

export interface Authors {
  /** The actor on whose behalf something is sent later. Possibly outdated: the commit compares its versions. */
  get(meta: RequestMeta, userId: number, fresh: boolean): Promise<Actor>;
}

const maxEntries = 10_000;

export function createAuthors(bus: Bus): Authors {
  const known = new Map<string, Actor>();
  return {
    async get(meta, userId, fresh) {
      const key = `${meta.realmId}:${userId}`;
      const cached = known.get(key);
      if (cached && !fresh) return cached;
      const actor = await bus.call(userOperations.describeActor, { user_id: userId }, { meta });
      if (known.size >= maxEntries) known.clear();
      known.set(key, actor);
      return actor;
    },
  };
}
