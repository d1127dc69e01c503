import { createHash, randomUUID } from 'node:crypto';
import {
  type Actor,
  botOperations,
  ChatError,
  catchUpOperations,
  channelsFetchTypes,
  eventQueueOperations,
  featureLevel,
  messagingFetchTypes,
  type ParamsOf,
  presenceFetchTypes,
  type QueueRecord,
  type RequestMeta,
  serverVersion,
  usersFetchTypes,
} from '@natter/contracts';
import { type Claim, exportSnapshot, sql } from '@natter/database';
import {
  type Bus,
  type Context,
  createRealmPolicies,
  type Handlers,
  handleOpen,
  JsonPieces,
  joinObjects,
  type Owner,
  type Piece,
} from '@natter/service-kit';
import { z } from 'zod';
import { checkRegister } from './check-register.ts';
import { remember } from './queues.ts';
import { positionRow } from './read-log.ts';

type Params = ParamsOf<typeof eventQueueOperations.register>;

const defaultIdleSeconds = 600;
const mobileIdleSeconds = 7 * 86_400;
const maxRegistersAtOnce = 8;

export interface RegisterLimits {
  queuesPerUser: number;
  /** The log's retention: a queue cannot sleep longer than what it would have to be given. */
  maxIdleSeconds: number;
}

export function registerHandlers({ database, redis }: Owner, bus: Bus, limits: RegisterLimits): Handlers {
  const policies = createRealmPolicies(bus);
  const running = new Map<string, number>();

  /** Registers are dear: nobody has more than a few under way, or more queues than fit. */
  async function within<R>(who: string, work: () => Promise<R>): Promise<R> {
    const count = running.get(who) ?? 0;
    if (count >= maxRegistersAtOnce) throw tooMany('Too many registrations at once', 1);
    running.set(who, count + 1);
    try {
      return await work();
    } finally {
      const left = (running.get(who) ?? 1) - 1;
      if (left > 0) running.set(who, left);
      else running.delete(who);
    }
  }

  async function checkRoom(actor: Actor): Promise<void> {
    const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
      SELECT count(*) FROM event_queue.queue WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND expires_at > now()`);
    if (count >= limits.queuesPerUser) throw tooMany('Too many event queues', 60);
  }

  /** What was answered before is in the state; one point in time for all owners. */
  async function readState(userId: number, meta: RequestMeta, params: Params, capabilities: Record<string, boolean>) {
    const fetchTypes = params.fetch_event_types ?? params.event_types ?? null;
    const behind = catchUpOperations.filter((owner) => concerns(owner.service, fetchTypes));
    await Promise.all(behind.map((owner) => bus.call(owner, {}, { meta })));
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
      const parts = await Promise.all(owners.map((owner) => bus.callPieces(owner, part, { meta })));
      return { position, state: [identity, ...parts] };
    });
  }

  async function registerUser(actor: Actor, { meta, claim }: Context, params: Params): Promise<JsonPieces> {
    await checkRoom(actor);
    const capabilities = capabilitiesOf(params);
    const follows = await followedBy(actor, meta, params);
    const createdAt = Date.now();
    // The queue starts after the number that all owners saw.
    const { position, state } = await readState(actor.userId, meta, params, capabilities);
    const record: QueueRecord = {
      queue_id: queueIdOf(actor, claim),
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
    };
    await database.run(sql.unsafe`
      INSERT INTO event_queue.queue (queue_id, realm_id, user_id, epoch, record, idle_timeout, expires_at)
      VALUES (${record.queue_id}, ${record.realm_id}, ${record.user_id}, ${record.epoch}, ${JSON.stringify(record)},
        make_interval(secs => ${record.idle_timeout_seconds}), now() + make_interval(secs => ${record.idle_timeout_seconds} * 1.25))
      ON CONFLICT (queue_id) DO UPDATE SET epoch = excluded.epoch, record = excluded.record, expires_at = excluded.expires_at`);
    await remember(redis, record);
    return withQueue(state, record.queue_id);
  }

  /** What was asked for; of a bot that asked for nothing, what its owner set. */
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

  /** Somebody without an account sees what is open to the web, and follows nothing. */
  async function registerSpectator(meta: RequestMeta, params: Params): Promise<JsonPieces> {
    const policy = await policies.get(meta, true);
    if (!policy.settings.enable_spectator_access)
      throw new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
    const { state } = await readState(0, meta, params, capabilitiesOf(params));
    return withQueue(state, null);
  }

  function idleSeconds({ idle_queue_timeout }: Params): number {
    const wanted = idle_queue_timeout === 'mobile' ? mobileIdleSeconds : idle_queue_timeout || defaultIdleSeconds;
    return Math.min(wanted, limits.maxIdleSeconds);
  }

  return [
    handleOpen(eventQueueOperations.register, async (context, params) => {
      const { actor, meta } = context;
      checkRegister(actor, params);
      const who = `${meta.realmId} ${actor?.userId ?? 0}`;
      return within(who, () => (actor ? registerUser(actor, context, params) : registerSpectator(meta, params)));
    }),
  ];
}

/**
 * A register that is repeated under its key has the same queue, which starts anew with the state that is answered now: the state is
 * too large to be kept.
 */
function queueIdOf({ realmId, userId }: Actor, claim: Claim | undefined): string {
  if (claim?.namedBy !== 'key') return randomUUID();
  const hash = createHash('sha256')
    .update(JSON.stringify([realmId, userId, claim.key, claim.fingerprint]))
    .digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

const withQueue = (state: (string | Piece[])[], queue_id: string | null): JsonPieces =>
  new JsonPieces(joinObjects([...state, JSON.stringify({ queue_id, last_event_id: -1 })]));

const tooMany = (message: string, seconds: number): ChatError =>
  new ChatError('RATE_LIMIT_HIT', message, { 'retry-after': seconds });

/** Which owner has something for these fetch types; all have when none are named. */
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

/** The specification (section 6) names events of groups after the key of their state. */
const eventTypes = ({ event_types }: Params): string[] | null =>
  event_types?.flatMap((type) => (type === 'realm_user_groups' ? [type, 'user_group'] : [type])) ?? null;

/** What a queue is rendered by: what the client said, and what follows from other parameters. */
function capabilitiesOf({
  client_capabilities,
  pronouns_field_type_supported,
  slim_presence,
}: Params): Record<string, boolean> {
  const named = Object.entries(client_capabilities ?? {}).filter(
    (entry): entry is [string, boolean] => typeof entry[1] === 'boolean',
  );
  const capabilities = Object.fromEntries(named);
  return {
    ...capabilities,
    pronouns_field_type_supported: pronouns_field_type_supported ?? true,
    presence_email: !capabilities.simplified_presence_events && !slim_presence,
  };
}
