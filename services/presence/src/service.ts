import { badRequest, eventQueueOperations, presenceOperations } from '@natter/contracts';
import { inSnapshot, sql } from '@natter/database';
import { type CommonConfig, handle, openOwner, type Process, type Running } from '@natter/service-kit';
import { z } from 'zod';

const presenceRow = z.object({
  user_id: z.number(),
  active_at: z.number().nullable(),
  connected_at: z.number(),
  update_id: z.number(),
});
const offlineAfterSeconds = 200;

/** Who is here. */
export async function startPresence(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'presence');
  const { database, appender } = owner;
  await process.bus.serve('presence', '1.0.0', [
    handle(presenceOperations.updatePresence, async ({ actor, log }, params) => {
      if (actor.isBot) throw badRequest('Presence is not supported for bot users.');
      const now = Math.floor(Date.now() / 1000);
      const active = params.status === 'active' ? now : null;
      const before = await database.maybeOne(sql.type(presenceRow)`
        SELECT user_id, active_at, connected_at, update_id FROM presence.presence WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId}`);
      await database.run(sql.unsafe`
        INSERT INTO presence.presence AS p (realm_id, user_id, active_at, connected_at, update_id)
        VALUES (${actor.realmId}, ${actor.userId}, ${active}, ${now}, nextval('presence.update_id'))
        ON CONFLICT (realm_id, user_id) DO UPDATE SET active_at = coalesce(excluded.active_at, p.active_at), connected_at = excluded.connected_at, update_id = excluded.update_id`);
      if (active !== null && (before?.active_at ?? 0) < now - offlineAfterSeconds)
        appender
          .appendEphemeral(actor.realmId, {
            type: 'presence',
            body: {
              user_id: actor.userId,
              email: actor.email,
              server_timestamp: now,
              presence: { website: { client: 'website', status: 'active', timestamp: now, pushable: false } },
            },
            audience: 'realm',
          })
          .catch((error: unknown) => log.debug({ err: error }, 'presence event dropped'));
      const since = now - (params.history_limit_days ?? 14) * 86_400;
      const after = params.last_update_id ?? -1;
      const rows = await database.any(sql.type(presenceRow)`
        SELECT user_id, active_at, connected_at, update_id FROM presence.presence
        WHERE realm_id = ${actor.realmId} AND update_id > ${after} AND (${after > 0} OR connected_at >= ${since})`);
      const lastUpdateId = Math.max(after, ...rows.map((row) => row.update_id));
      if (params.ping_only) return { presence_last_update_id: lastUpdateId };
      return {
        presence_last_update_id: lastUpdateId,
        server_timestamp: Date.now() / 1000,
        presences: Object.fromEntries(
          rows.map((row) => [row.user_id, { active_timestamp: row.active_at ?? 0, idle_timestamp: row.connected_at }]),
        ),
        zephyr_mirror_active: false,
        legacy_mirror_active: false,
      };
    }),

    handle(eventQueueOperations.snapshotPresence, async ({ meta }, { snapshot, types }) => {
      if (types !== null && !types.includes('presence')) return {};
      return inSnapshot(database, snapshot, async (executor) => {
        const rows = await executor.any(sql.type(presenceRow)`
          SELECT user_id, active_at, connected_at, update_id FROM presence.presence WHERE realm_id = ${meta.realmId}`);
        return {
          presences: Object.fromEntries(
            rows.map((row) => [
              row.user_id,
              { active_timestamp: row.active_at ?? 0, idle_timestamp: row.connected_at },
            ]),
          ),
          presence_last_update_id: Math.max(-1, ...rows.map((row) => row.update_id)),
          server_timestamp: Date.now() / 1000,
        };
      });
    }),
  ]);
  return { stop: () => owner.close() };
}
