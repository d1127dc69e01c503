import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type Audience,
  badRequest,
  eventQueueOperations,
  idSet,
  isGuest,
  presenceOperations,
  type RequestMeta,
  userOperations,
} from '@natter/contracts';
import {
  commonConfig,
  createRealmPolicies,
  createSight,
  handle,
  openOwner,
  type Process,
  type Running,
} from '@natter/service-kit';
import { z } from 'zod';
import { legacy, offlineAfterSeconds, statusOf } from './format.ts';
import { createHotState } from './hot-state.ts';
import { createPeopleShown, createSharing, everybody, findPerson, isLargerThan, peopleConsumer } from './people.ts';
import { createPresenceEvents } from './presence-events.ts';
import { defaultHistoryDays, presencesOf } from './presences.ts';
import { createRecordState, withFallback } from './record-state.ts';
import { startWriteBehind } from './write-behind.ts';

export const presenceConfig = commonConfig.extend({
  CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Presence shows only users whom its reader can access'),
});
type Config = z.output<typeof presenceConfig>;

const nobody: ReadonlySet<number> = new Set();

/** In larger realms nobody is told of each arrival; clients ask. */
const maxPeopleForEvents = 100;

/** For so long a realm that was large is taken for large. */
const largeMs = 60_000;

/** Who is here. */
export async function startPresence(process: Process<Config>): Promise<Running> {
  const owner = openOwner(process, 'presence');
  const { database } = owner;
  const hot = withFallback(createHotState(owner.redis, database), createRecordState(database), (error) =>
    process.log.debug({ err: error }, 'Redis failed, presence is read from Postgres'),
  );
  const behind = startWriteBehind(database, process.log);
  const peopleShown = createPeopleShown(database);
  const sharingOf = createSharing(database);
  const events = createPresenceEvents(owner.appender, process.log);
  const policies = createRealmPolicies(process.bus);
  const isLimited = process.config.CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE === 'true';
  const sight = createSight(process.bus);
  peopleConsumer(owner, (realmId, userId) => {
    tellGone(realmId, userId).catch((error: unknown) => process.log.debug({ err: error }, 'presence event dropped'));
  });

  const hiddenFrom = async (actor: Actor, meta: RequestMeta): Promise<ReadonlySet<number>> =>
    isLimited && isGuest(actor) ? sight.hiddenFrom(actor, meta, await policies.get(meta, true)) : nobody;

  const hiddenFromUser = async (userId: number, meta: RequestMeta): Promise<ReadonlySet<number>> =>
    isLimited
      ? hiddenFrom(await process.bus.call(userOperations.describeActor, { user_id: userId }, { meta }), meta)
      : nobody;

  const largeAt = new Map<number, number>();
  async function isLarge(realmId: number): Promise<boolean> {
    if (Date.now() - (largeAt.get(realmId) ?? 0) < largeMs) return true;
    const is = await isLargerThan(database, realmId, maxPeopleForEvents);
    if (is) largeAt.set(realmId, Date.now());
    return is;
  }

  /** Who is told that somebody came. */
  async function audienceOf(userId: number, meta: RequestMeta): Promise<Audience> {
    const blind = isLimited ? await sight.blindTo(userId, meta, await policies.get(meta, true)) : nobody;
    if (blind.size === 0) return 'realm';
    return { users: idSet((await everybody(database, meta.realmId)).filter((id) => !blind.has(id))) };
  }

  /** Whoever becomes invisible looks to others as if they had left a while ago. */
  async function tellGone(realmId: number, userId: number): Promise<void> {
    const presence = await hot.readOne(realmId, userId);
    const person = await findPerson(database, realmId, String(userId));
    const { presence_disabled } = await sharingOf({ realmId, userId });
    const left = Math.floor(Date.now() / 1000) - offlineAfterSeconds - 1;
    const isHere = presence !== undefined && Math.max(presence.activeAt, presence.connectedAt) > left;
    if (!person || !isHere || presence_disabled || (await isLarge(realmId))) return;
    const gone = {
      ...presence,
      activeAt: Math.min(presence.activeAt, left),
      connectedAt: Math.min(presence.connectedAt, left),
    };
    const meta = { requestId: randomUUID(), realmId, client: 'presence' };
    events.tell(realmId, person.email, gone, await audienceOf(userId, meta));
  }

  await process.bus.serve('presence', '1.0.0', [
    handle(presenceOperations.updatePresence, async ({ actor, meta }, params) => {
      if (actor.isBot) throw badRequest('Presence is not supported for bot users.');
      const { realmId, userId } = actor;
      const now = Math.floor(Date.now() / 1000);
      const sharing = await sharingOf({ realmId, userId });
      if (params.new_user_input) behind.input(realmId, userId);
      if (sharing.presence_enabled) {
        const { activeBefore, changed } = await hot.post(realmId, userId, now, params.status === 'active');
        if (changed) behind.stored(realmId, changed);
        const cameBack = changed?.activeAt === now && now - activeBefore > offlineAfterSeconds;
        if (changed && cameBack && !sharing.presence_disabled && !(await isLarge(realmId)))
          events.tell(realmId, actor.email, changed, await audienceOf(userId, meta));
      }
      const after = params.last_update_id ?? -1;
      const mirror = { zephyr_mirror_active: false, legacy_mirror_active: false };
      if (params.ping_only) {
        const { lastUpdateId } = await hot.read(realmId, Number.MAX_SAFE_INTEGER);
        return { presence_last_update_id: Math.max(after, lastUpdateId || -1), ...mirror };
      }
      if (sharing.presence_disabled)
        return { presence_last_update_id: after, server_timestamp: Date.now() / 1000, presences: {}, ...mirror };
      const shown = await presencesOf(hot, peopleShown, {
        realmId,
        hidden: await hiddenFrom(actor, meta),
        afterUpdateId: after,
        historyDays: params.history_limit_days ?? defaultHistoryDays,
        format: params.last_update_id !== undefined || params.slim_presence ? 'modern' : 'legacy',
      });
      return {
        presence_last_update_id: shown.lastUpdateId || after,
        server_timestamp: shown.serverTimestamp,
        presences: shown.presences,
        ...mirror,
      };
    }),

    handle(presenceOperations.getRealmPresence, async ({ actor, meta }) => {
      const { serverTimestamp, presences } = await presencesOf(hot, peopleShown, {
        realmId: actor.realmId,
        hidden: await hiddenFrom(actor, meta),
        afterUpdateId: -1,
        historyDays: defaultHistoryDays,
        format: 'legacy',
      });
      return { server_timestamp: serverTimestamp, presences };
    }),

    handle(presenceOperations.getUserPresence, async ({ actor, meta }, { user_id_or_email }) => {
      const person = await findPerson(database, actor.realmId, user_id_or_email);
      const hidden = await hiddenFrom(actor, meta);
      if (!person?.is_active || hidden.has(person.user_id)) throw badRequest('No such user');
      if (person.is_bot) throw badRequest('Presence is not supported for bot users.');
      const [shown] = await peopleShown({ realmId: actor.realmId, ids: [person.user_id] });
      const presence = shown && (await hot.readOne(actor.realmId, person.user_id));
      if (!presence) throw badRequest(`No presence data for ${user_id_or_email}`);
      const now = Date.now() / 1000;
      const { timestamp } = statusOf(presence, now);
      const isOffline = now - timestamp > offlineAfterSeconds;
      const { aggregated, website } = legacy(presence, now);
      const status = isOffline ? { status: 'offline' } : {};
      return { presence: { aggregated: { ...aggregated, ...status }, website: { ...website, ...status } } };
    }),

    // What is hot is no part of the exported snapshot: presence is a matter of the clock, not of the log.
    handle(eventQueueOperations.snapshotPresence, async ({ meta }, params) => {
      if (params.types !== null && !params.types.includes('presence')) return {};
      if (params.user_id === 0)
        return { presences: {}, presence_last_update_id: -1, server_timestamp: Date.now() / 1000 };
      const shown = await presencesOf(hot, peopleShown, {
        realmId: meta.realmId,
        hidden: await hiddenFromUser(params.user_id, meta),
        afterUpdateId: -1,
        historyDays: params.presence_history_limit_days ?? defaultHistoryDays,
        format: params.slim_presence ? 'modern' : 'legacy',
      });
      return {
        presences: shown.presences,
        presence_last_update_id: shown.lastUpdateId === 0 ? -1 : shown.lastUpdateId,
        server_timestamp: shown.serverTimestamp,
      };
    }),
  ]);

  return {
    stop: async () => {
      await events.stop();
      await behind.stop();
      await owner.close();
    },
  };
}
