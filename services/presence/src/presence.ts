import { badRequest, eventQueueOperations, presenceOperations } from '@natter/contracts';
import type { Database } from '@natter/database';
import { type Handlers, handle, handleWrite } from '@natter/service-kit';
import { announcedAfterSeconds, legacy, offlineAfterSeconds, statusOf } from './format.ts';
import type { HotState } from './hot-state.ts';
import { type createPeopleShown, type createSharing, findPerson } from './people.ts';
import type { createPresenceEvents } from './presence-events.ts';
import { defaultHistoryDays, presencesOf } from './presences.ts';
import { noSuchUser, type Views } from './views.ts';
import type { startWriteBehind } from './write-behind.ts';

interface Sources {
  database: Database;
  hot: HotState;
  behind: ReturnType<typeof startWriteBehind>;
  events: ReturnType<typeof createPresenceEvents>;
  peopleShown: ReturnType<typeof createPeopleShown>;
  sharingOf: ReturnType<typeof createSharing>;
  views: Views;
  isLarge(realmId: number): Promise<boolean>;
  /** Milliseconds of the clock that all processes share. */
  now(): number;
}

export function presenceHandlers(sources: Sources): Handlers {
  const { database, hot, behind, events, peopleShown, sharingOf } = sources;
  const { views, isLarge, now: nowMs } = sources;
  return [
    handleWrite(presenceOperations.updatePresence, async ({ actor, meta }, params) => {
      const { realmId, userId } = actor;
      const now = Math.floor(nowMs() / 1000);
      const sharing = await sharingOf({ realmId, userId });
      if (params.new_user_input) behind.input(realmId, userId);
      if (sharing.presence_enabled) {
        const { activeBefore, changed } = await hot.post(realmId, userId, now, params.status === 'active');
        if (changed) behind.stored(realmId, changed);
        const cameBack = changed !== undefined && changed.activeAt - activeBefore > announcedAfterSeconds;
        if (cameBack && !sharing.presence_disabled && !(await isLarge(realmId)))
          events.announce(realmId, changed, await views.receivers(userId, actor.email, meta));
      }
      const after = params.last_update_id ?? -1;
      const mirror = { zephyr_mirror_active: false, legacy_mirror_active: false };
      // A later ID would make the client skip the updates that this response leaves out.
      if (params.ping_only) return { presence_last_update_id: after, ...mirror };
      if (sharing.presence_disabled)
        return { presence_last_update_id: after, server_timestamp: nowMs() / 1000, presences: {}, ...mirror };
      const format = params.last_update_id !== undefined || params.slim_presence ? 'modern' : 'legacy';
      const shown = await presencesOf(hot, peopleShown, {
        now: nowMs(),
        realmId,
        view: await views.ofActor(actor, meta, format),
        afterUpdateId: after,
        historyDays: params.history_limit_days ?? defaultHistoryDays,
        format,
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
        now: nowMs(),
        realmId: actor.realmId,
        view: await views.ofActor(actor, meta, 'legacy'),
        afterUpdateId: -1,
        historyDays: defaultHistoryDays,
        format: 'legacy',
      });
      return { server_timestamp: serverTimestamp, presences };
    }),

    handle(presenceOperations.getUserPresence, async ({ actor, meta }, { user_id_or_email }) => {
      const person = await findPerson(database, actor.realmId, user_id_or_email);
      if (!person?.is_active) throw noSuchUser();
      await views.requireKnown(actor, meta, person.user_id);
      if (person.is_bot) throw badRequest('Presence is not supported for bot users.');
      const [shown] = await peopleShown({ realmId: actor.realmId, ids: [person.user_id] });
      const presence = shown && (await hot.readOne(actor.realmId, person.user_id));
      if (!presence) throw badRequest(`No presence data for ${user_id_or_email}`);
      const now = nowMs() / 1000;
      const { timestamp } = statusOf(presence, now);
      const isOffline = now - timestamp > offlineAfterSeconds;
      const { aggregated, website } = legacy(presence, now);
      const status = isOffline ? { status: 'offline' } : {};
      return { presence: { aggregated: { ...aggregated, ...status }, website: { ...website, ...status } } };
    }),

    // Redis state is not part of the exported snapshot: presence depends on the time, not on the log.
    handle(eventQueueOperations.snapshotPresence, async ({ meta }, params) => {
      if (params.types !== null && !params.types.includes('presence')) return {};
      if (params.user_id === 0) return { presences: {}, presence_last_update_id: -1, server_timestamp: nowMs() / 1000 };
      const format = params.slim_presence ? 'modern' : 'legacy';
      const shown = await presencesOf(hot, peopleShown, {
        now: nowMs(),
        realmId: meta.realmId,
        view: await views.ofUser(params.user_id, meta, format),
        afterUpdateId: -1,
        historyDays: params.presence_history_limit_days ?? defaultHistoryDays,
        format,
      });
      return {
        presences: shown.presences,
        presence_last_update_id: shown.lastUpdateId === 0 ? -1 : shown.lastUpdateId,
        server_timestamp: shown.serverTimestamp,
      };
    }),
  ];
}
