import { randomUUID } from 'node:crypto';
import {
  badRequest,
  catchUpOperations,
  channelsFetchTypes,
  eventQueueOperations,
  featureLevel,
  messagingFetchTypes,
  type ParamsOf,
  presenceFetchTypes,
  type QueueRecord,
  serverVersion,
  usersFetchTypes,
} from '@natter/contracts';
import { exportSnapshot, sql } from '@natter/database';
import { type Bus, type Handlers, handle, type Owner } from '@natter/service-kit';
import { positionRow } from './read-log.ts';

type Params = ParamsOf<typeof eventQueueOperations.register>;

const defaultIdleSeconds = 600;
const mobileIdleSeconds = 7 * 86_400;
/** The log's retention: a queue cannot sleep longer than what it would have to be given. */
const maxIdleSeconds = 72 * 3_600;

export function registerHandlers({ database }: Owner, bus: Bus): Handlers {
  return [
    handle(eventQueueOperations.register, async ({ actor, meta }, params) => {
      if (params.all_public_streams && actor.role === 600) throw badRequest('User not authorized for this query');
      checkNarrow(params);
      const fetchTypes = params.fetch_event_types ?? params.event_types ?? null;
      const capabilities = booleansOf(params.client_capabilities ?? {});
      const createdAt = Date.now();
      // What was answered before this register began is in its state.
      const behind = catchUpOperations.filter((owner) => concerns(owner.service, fetchTypes));
      await Promise.all(behind.map((owner) => bus.call(owner, {}, { meta })));
      // One point in time for all owners: number S. The queue starts after S.
      const { position, parts } = await exportSnapshot(database, async (snapshot) => {
        const position = await snapshot.one(
          sql.type(positionRow)`SELECT number, mark, epoch, floor FROM log.position(${actor.realmId})`,
        );
        const part = {
          snapshot: snapshot.id,
          user_id: actor.userId,
          types: fetchTypes,
          include_subscribers: params.include_subscribers,
          client_gravatar: params.client_gravatar,
          slim_presence: params.slim_presence,
          capabilities,
        };
        const { snapshotUsers, snapshotChannels, snapshotMessaging, snapshotPresence } = eventQueueOperations;
        const owners = [snapshotUsers, snapshotChannels, snapshotMessaging, snapshotPresence].filter((owner) =>
          concerns(owner.service, fetchTypes),
        );
        const parts = await Promise.all(owners.map((owner) => bus.call(owner, part, { actor, meta })));
        return { position, parts };
      });
      const record: QueueRecord = {
        queue_id: randomUUID(),
        realm_id: actor.realmId,
        user_id: actor.userId,
        start: position.number,
        epoch: position.epoch,
        created_at: createdAt,
        idle_timeout_seconds: idleSeconds(params),
        event_types: eventTypes(params),
        narrow: params.narrow,
        all_public_streams: params.all_public_streams,
        apply_markdown: params.apply_markdown,
        client_gravatar: params.client_gravatar,
        slim_presence: params.slim_presence,
        capabilities,
      };
      await database.run(sql.unsafe`
        INSERT INTO event_queue.queue (queue_id, realm_id, user_id, epoch, record, idle_timeout, expires_at)
        VALUES (${record.queue_id}, ${record.realm_id}, ${record.user_id}, ${record.epoch}, ${JSON.stringify(record)},
          make_interval(secs => ${record.idle_timeout_seconds}), now() + make_interval(secs => ${record.idle_timeout_seconds}))`);
      return { ...identity, ...Object.assign({}, ...parts), queue_id: record.queue_id, last_event_id: -1 };
    }),
  ];
}

/** Which owner has something for these fetch types; all have when none are named. */
const typesOf: Record<string, readonly string[]> = {
  users: usersFetchTypes,
  channels: channelsFetchTypes,
  messaging: messagingFetchTypes,
  presence: presenceFetchTypes,
};
const concerns = (service: string, types: string[] | null): boolean =>
  types === null || (typesOf[service] ?? []).some((type) => types.includes(type));

const identity = {
  zulip_version: serverVersion,
  service_version: serverVersion,
  zulip_merge_base: serverVersion,
  zulip_feature_level: featureLevel,
  service_feature_level: featureLevel,
};

/** The specification (section 6) names events of groups after the key of their state. */
const eventTypes = ({ event_types }: Params): string[] | null =>
  event_types?.flatMap((type) => (type === 'realm_user_groups' ? [type, 'user_group'] : [type])) ?? null;

function idleSeconds({ idle_queue_timeout }: Params): number {
  if (idle_queue_timeout === 'mobile') return Math.min(mobileIdleSeconds, maxIdleSeconds);
  return Math.min(idle_queue_timeout || defaultIdleSeconds, maxIdleSeconds);
}

const narrowOperators = new Set(['channel', 'stream', 'topic', 'sender', 'is']);
const isOperands = new Set(['dm', 'private', 'starred', 'unread', 'mentioned', 'alerted', 'resolved']);

function checkNarrow({ narrow }: Params): void {
  for (const { operator, operand } of narrow) {
    if (!narrowOperators.has(operator)) throw badRequest(`Operator ${operator} not supported.`);
    if (operator === 'is' && !isOperands.has(operand)) throw badRequest(`Operand ${operand} not supported.`);
  }
}

function booleansOf(capabilities: Record<string, unknown>): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(capabilities).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );
}
