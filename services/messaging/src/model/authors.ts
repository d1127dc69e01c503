import { type Actor, type RequestMeta, userOperations } from '@natter/contracts';
import { type Bus, createSharedCache, heapBytes, stringBytes } from '@natter/service-kit';

export interface Authors {
  /** The actor on whose behalf something is sent later. Possibly outdated: the commit compares its versions. */
  get(meta: RequestMeta, userId: number, fresh: boolean): Promise<Actor>;
}

/** Memory of the actors of all organizations. */
const maxBytes = 16 * 1024 * 1024;

export function createAuthors(bus: Bus): Authors {
  const known = createSharedCache<Actor>({ maxBytes, sizeOf: (actor, key) => heapBytes(actor) + stringBytes(key) });
  return {
    async get(meta, userId, fresh) {
      const cached = fresh ? undefined : known.get(meta.realmId, `${userId}`);
      if (cached) return cached;
      const actor = await bus.call(userOperations.describeActor, { user_id: userId }, { meta });
      known.set(meta.realmId, `${userId}`, actor);
      return actor;
    },
  };
}
