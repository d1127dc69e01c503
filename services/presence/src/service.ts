import { randomUUID } from 'node:crypto';
import { commonConfig, openOwner, type Process, type Running } from '@natter/service-kit';
import { z } from 'zod';
import { countOnlineHandlers } from './count-online.ts';
import { offlineAfterSeconds } from './format.ts';
import { createHotState, type Presence, withKnownTimes } from './hot-state.ts';
import { createPeopleShown, createSharing, findPerson, isLargerThan, type Person, peopleConsumer } from './people.ts';
import { presenceHandlers } from './presence.ts';
import { createPresenceEvents } from './presence-events.ts';
import { createRecordState, withFallback } from './record-state.ts';
import { createViews } from './views.ts';
import { startWriteBehind } from './write-behind.ts';

export const presenceConfig = commonConfig.extend({
  CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether presence is limited to users whom the reader can see'),
});
type Config = z.output<typeof presenceConfig>;

/** In larger realms arrivals are not announced; clients poll. */
const maxPeopleForEvents = 100;

/** How long the result that a realm is large is cached. */
const largeMs = 60_000;

/** Serves presence. */
export async function startPresence(process: Process<Config>): Promise<Running> {
  const owner = openOwner(process, 'presence');
  const { database } = owner;
  const { now } = owner.redis;
  const stored = withFallback(createHotState(owner.redis, database), createRecordState(database, now), (error) =>
    process.log.debug({ err: error }, 'Redis failed, presence is read from Postgres'),
  );
  const hot = withKnownTimes(stored, now);
  const behind = startWriteBehind(database, process.log, now);
  const peopleShown = createPeopleShown(database);
  const sharingOf = createSharing(database);
  const events = createPresenceEvents(owner.appender, process.log, now);
  const isLimited = process.config.CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE === 'true';
  const views = createViews(process.bus, database, isLimited);
  /** The last announcement of each user that is under way. */
  const turns = new Map<string, Promise<void>>();
  peopleConsumer(owner, (realmId, userId) => {
    const key = `${realmId} ${userId}`;
    const turn = (turns.get(key) ?? Promise.resolve())
      .then(() => announceSharing(realmId, userId))
      .catch((error: unknown) => process.log.debug({ err: error }, 'presence event dropped'))
      .finally(() => {
        if (turns.get(key) === turn) turns.delete(key);
      });
    turns.set(key, turn);
  });

  const largeAt = new Map<number, number>();
  async function isLarge(realmId: number): Promise<boolean> {
    if (performance.now() - (largeAt.get(realmId) ?? Number.NEGATIVE_INFINITY) < largeMs) return true;
    const is = await isLargerThan(database, realmId, maxPeopleForEvents);
    if (is) largeAt.set(realmId, performance.now());
    return is;
  }

  /** Announces what the setting of a user is now: it may have changed again. */
  async function announceSharing(realmId: number, userId: number): Promise<void> {
    const person = await findPerson(database, realmId, String(userId));
    const { presence_disabled } = await sharingOf({ realmId, userId });
    if (!person || presence_disabled) return;
    const presence = person.presence_enabled ? await backOf(realmId, person) : await goneOf(realmId, userId);
    if (presence) await announce(realmId, presence, person);
  }

  /** A user who becomes invisible appears to others as having left a while ago. */
  async function goneOf(realmId: number, userId: number): Promise<Presence | undefined> {
    const presence = await hot.readOne(realmId, userId);
    const left = Math.floor(now() / 1000) - offlineAfterSeconds - 1;
    if (!presence || Math.max(presence.activeAt, presence.connectedAt) <= left) return undefined;
    return {
      ...presence,
      activeAt: Math.min(presence.activeAt, left),
      connectedAt: Math.min(presence.connectedAt, left),
    };
  }

  /** A user who becomes visible appears to others as active now. */
  async function backOf(realmId: number, { user_id, is_bot }: Person): Promise<Presence | undefined> {
    if (is_bot) return undefined;
    const { changed } = await hot.post(realmId, user_id, Math.floor(now() / 1000), true);
    if (changed) behind.stored(realmId, changed);
    return changed ?? (await hot.readOne(realmId, user_id));
  }

  /** Changes of this setting are few, so they are announced in large realms too. */
  async function announce(realmId: number, presence: Presence, { user_id, email }: Person): Promise<void> {
    const meta = { requestId: randomUUID(), realmId, client: 'presence' };
    events.announce(realmId, presence, await views.receivers(user_id, email, meta));
  }

  await process.bus.serve('presence', [
    ...presenceHandlers({ now, database, hot, behind, events, peopleShown, sharingOf, views, isLarge }),
    ...countOnlineHandlers(database, now),
  ]);

  return {
    stop: () => owner.close(behind.stop, events.stop),
  };
}
