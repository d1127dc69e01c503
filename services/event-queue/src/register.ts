import { createHash, randomUUID } from 'node:crypto';
import {
  type Actor,
  botOperations,
  capabilityNames,
  catchUpOperations,
  channelsFetchTypes,
  eventQueueOperations,
  featureLevel,
  idsPerNumber,
  isBehindSnapshot,
  messagingFetchTypes,
  notLoggedIn,
  type ParamsOf,
  presenceFetchTypes,
  type QueueRecord,
  queueRecordSchema,
  type RequestMeta,
  serverVersion,
  usersFetchTypes,
  usersPerBots,
} from '@natter/contracts';
import { exportSnapshot, type Fragment, pause, sql } from '@natter/database';
import { createRealmPolicies } from '@natter/realm-policy';
import {
  type Bus,
  type Context,
  type Handlers,
  handleWrite,
  JsonPieces,
  joinObjects,
  type Owner,
  type Piece,
  type Writing,
} from '@natter/service-kit';
import { z } from 'zod';
import { checkRegister } from './check-register.ts';
import { positionRow } from './read-log.ts';
import { remember } from './record-cache.ts';
import { createRegisterRoom, tooManyRegisters } from './register-room.ts';

type Params = ParamsOf<typeof eventQueueOperations.register>;

const countRow = z.object({ count: z.number() });
const openedRow = z.object({ record: queueRecordSchema });

const defaultIdleSeconds = 600;
const mobileIdleSeconds = 7 * 86_400;

/** Mean delay until the next snapshot. */
const againAfterMs = 50;

interface Asked {
  params: Params;
  fetchTypes: string[] | null;
  capabilities: Record<string, boolean>;
  /** Whether an owner refused another snapshot for this request. */
  isAgain: boolean;
}

export interface RegisterLimits {
  queuesPerUser: number;
  /** The log's retention: a queue must not be idle for longer than its events are kept. */
  maxIdleSeconds: number;
}

export function registerHandlers({ database, redis }: Owner, bus: Bus, limits: RegisterLimits): Handlers {
  const policies = createRealmPolicies(bus);
  const room = createRegisterRoom();

  async function checkRoom({ realmId, userId, botOwnerId }: Actor): Promise<void> {
    const check = async (condition: Fragment, limit: number): Promise<void> => {
      const { count } = await database.one(sql.type(countRow)`
        SELECT count(*) FROM event_queue.queue WHERE realm_id = ${realmId} AND ${condition} AND expires_at > now()`);
      if (count >= limit) throw tooManyRegisters('Too many event queues', 60);
    };
    await check(sql.fragment`user_id = ${userId}`, limits.queuesPerUser);
    if (botOwnerId !== undefined)
      await check(sql.fragment`bot_owner_id = ${botOwnerId}`, usersPerBots * limits.queuesPerUser);
  }

  /**
   * The state includes everything acknowledged before the request; all owners read at the same log number. If a projection
   * lacks an event that no later event makes up for, takes another snapshot.
   */
  async function readState(userId: number, meta: RequestMeta, params: Params, capabilities: Record<string, boolean>) {
    const fetchTypes = params.fetch_event_types ?? params.event_types ?? null;
    const behind = catchUpOperations.filter((owner) => concerns(owner.service, fetchTypes));
    for (let isAgain = false; ; isAgain = true) {
      await Promise.all(behind.map((owner) => bus.call(owner, {}, { meta })));
      try {
        return await readSections(userId, meta, { params, fetchTypes, capabilities, isAgain });
      } catch (error) {
        if (!isBehindSnapshot(error)) throw error;
        await pause(againAfterMs * (0.5 + Math.random()));
      }
    }
  }

  function readSections(userId: number, meta: RequestMeta, { params, fetchTypes, capabilities, isAgain }: Asked) {
    return exportSnapshot(database, async (snapshot) => {
      const position = await snapshot.one(
        sql.type(positionRow)`SELECT number, mark, epoch, floor FROM log.position(${meta.realmId})`,
      );
      const part = {
        snapshot: snapshot.id,
        user_id: userId,
        types: fetchTypes,
        include_subscribers: params.include_subscribers,
        client_gravatar: params.client_gravatar ?? userId !== 0,
        slim_presence: params.slim_presence,
        presence_history_limit_days: params.presence_history_limit_days ?? undefined,
        capabilities,
      };
      const { snapshotUsers, snapshotChannels, snapshotMessaging, snapshotPresence } = eventQueueOperations;
      const owners = [snapshotUsers, snapshotChannels, snapshotMessaging, snapshotPresence].filter((owner) =>
        concerns(owner.service, fetchTypes),
      );
      const ask = (some: typeof owners) => Promise.all(some.map((owner) => bus.callPieces(owner, part, { meta })));
      // An owner may refuse again: then the others, whose sections are large, are not asked.
      const mayRefuse = isAgain ? [snapshotMessaging, snapshotChannels] : [];
      const parts: Awaited<ReturnType<typeof ask>> = [];
      for (const one of mayRefuse) parts.push(...(await ask(owners.filter((owner) => owner === one))));
      parts.push(...(await ask(owners.filter((owner) => !mayRefuse.some((one) => one === owner)))));
      return { position, state: [identity, ...parts] };
    });
  }

  async function registerUser(actor: Actor, { meta, named }: Context & Writing, params: Params): Promise<JsonPieces> {
    await checkRoom(actor);
    const capabilities = capabilitiesOf(params);
    const follows = await followedBy(actor, meta, params);
    for (;;) {
      const createdAt = redis.now();
      // The queue starts after the number that all owners saw.
      const { position, state } = await readState(actor.userId, meta, params, capabilities);
      const queue = await open(actor.botOwnerId, {
        queue_id: queueIdOf(actor, named),
        realm_id: actor.realmId,
        user_id: actor.userId,
        start: position.number,
        epoch: position.epoch,
        created_at: createdAt,
        idle_timeout_seconds: idleSeconds(params),
        event_types: eventTypes(params),
        ...follows,
        apply_markdown: params.apply_markdown,
        client_gravatar: params.client_gravatar ?? true,
        slim_presence: params.slim_presence,
        capabilities,
      });
      const passed = position.number - queue.start;
      // The same request opened the queue meanwhile, with a newer state than this one.
      if (passed < 0) continue;
      return withQueue(state, { queue_id: queue.queue_id, last_event_id: passed === 0 ? -1 : passed * idsPerNumber });
    }
  }

  /**
   * Returns the current record: a queue that is already open under this id keeps its start, because a client may
   * already follow it.
   */
  async function open(botOwnerId: number | undefined, record: QueueRecord): Promise<QueueRecord> {
    const { record: opened } = await database.one(sql.type(openedRow)`
      INSERT INTO event_queue.queue AS q (queue_id, realm_id, user_id, epoch, record, idle_timeout, expires_at, bot_owner_id)
      VALUES (${record.queue_id}, ${record.realm_id}, ${record.user_id}, ${record.epoch}, ${JSON.stringify(record)},
        make_interval(secs => ${record.idle_timeout_seconds}), now() + make_interval(secs => ${record.idle_timeout_seconds} * 1.25),
        ${botOwnerId ?? null})
      ON CONFLICT (queue_id) DO UPDATE SET epoch = excluded.epoch, expires_at = excluded.expires_at,
        bot_owner_id = excluded.bot_owner_id,
        record = CASE WHEN q.epoch = excluded.epoch THEN q.record ELSE excluded.record END
      RETURNING record`);
    await remember(redis, opened);
    return opened;
  }

  /** The requested filters; for a bot that requested none, the ones set by its owner. */
  async function followedBy(actor: Actor, meta: RequestMeta, { narrow, all_public_streams }: Params) {
    const asked = { narrow: narrow ?? [], all_public_streams: all_public_streams ?? false };
    const isOpen = asked.narrow.length === 0 || typeof all_public_streams !== 'boolean';
    if (!actor.isBot || !isOpen) return asked;
    const defaults = await bus.call(botOperations.queueDefaults, { user_id: actor.userId }, { meta });
    const channel = defaults.default_events_register_stream;
    return {
      narrow:
        asked.narrow.length === 0 && channel !== null
          ? [{ operator: 'channel', operand: channel, negated: false }]
          : asked.narrow,
      all_public_streams: all_public_streams ?? defaults.default_all_public_streams,
    };
  }

  /** A spectator sees web-public data, and has no queue. */
  async function registerSpectator(meta: RequestMeta, params: Params): Promise<JsonPieces> {
    const policy = await policies.get(meta, true);
    if (!policy.settings.enable_spectator_access) throw notLoggedIn();
    const { state } = await readState(0, meta, params, capabilitiesOf(params));
    return withQueue(state, { queue_id: null, last_event_id: -1 });
  }

  function idleSeconds({ idle_queue_timeout }: Params): number {
    const wanted = idle_queue_timeout === 'mobile' ? mobileIdleSeconds : idle_queue_timeout || defaultIdleSeconds;
    return Math.min(wanted, limits.maxIdleSeconds);
  }

  return [
    handleWrite(eventQueueOperations.register, async (context, params) => {
      const { actor, meta } = context;
      checkRegister(actor, params);
      const who = { realmId: meta.realmId, ...(actor ? { userId: actor.userId } : { network: meta.network ?? '' }) };
      return room.within(who, () => (actor ? registerUser(actor, context, params) : registerSpectator(meta, params)));
    }),
  ];
}

/**
 * A repeated register under the same key returns the same queue with the current state, because the state is too large
 * to store. A client can continue from both answers: the later one starts at the id of its own state.
 */
function queueIdOf({ realmId, userId }: Actor, named: Writing['named']): string {
  if (!named) return randomUUID();
  const hash = createHash('sha256')
    .update(JSON.stringify([realmId, userId, named.key, named.fingerprint]))
    .digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

const withQueue = (
  state: (string | Piece[])[],
  queue: { queue_id: string | null; last_event_id: number },
): JsonPieces => new JsonPieces(joinObjects([...state, JSON.stringify(queue)]));

/** The fetch types that each owner provides; all owners are queried if no types are named. */
const typesOf: Record<string, readonly string[]> = {
  users: usersFetchTypes,
  channels: channelsFetchTypes,
  messaging: messagingFetchTypes,
  presence: presenceFetchTypes,
};
const concerns = (service: string, types: string[] | null): boolean =>
  types === null || (typesOf[service] ?? []).some((type) => types.includes(type));

const identity = JSON.stringify({
  zulip_version: serverVersion,
  service_version: serverVersion,
  zulip_merge_base: serverVersion,
  zulip_feature_level: featureLevel,
  service_feature_level: featureLevel,
});

/** Clients subscribe to group events under the name of the corresponding state, `realm_user_groups`. */
const eventTypes = ({ event_types }: Params): string[] | null =>
  event_types?.flatMap((type) => (type === 'realm_user_groups' ? [type, 'user_group'] : [type])) ?? null;

/** The capabilities of a queue: those sent by the client, as far as they exist, and those implied by other parameters. */
function capabilitiesOf({
  client_capabilities,
  pronouns_field_type_supported,
  slim_presence,
}: Params): Record<string, boolean> {
  const named = Object.entries(client_capabilities ?? {}).filter(
    (entry): entry is [string, boolean] =>
      typeof entry[1] === 'boolean' && capabilityNames.some((known) => known === entry[0]),
  );
  const capabilities = Object.fromEntries(named);
  return {
    ...capabilities,
    pronouns_field_type_supported: pronouns_field_type_supported ?? true,
    presence_email: !capabilities.simplified_presence_events && !slim_presence,
  };
}
