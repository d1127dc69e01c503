import type { LogEntry, Operation, ParamsOf, RequestMeta, ResultOf } from '@natter/contracts';
import { withDeadline } from '@natter/database';
import type { LogRedis } from '@natter/event-log';
import type { Bus, Logger } from '@natter/service-kit';
import { createLogVerifier } from '../../../services/gateway/src/log-tail/log-keys.ts';
import { createRealmTails } from '../../../services/gateway/src/log-tail/realm-tails.ts';
import { confirmService } from '../../../services/gateway/src/queues/confirm-service.ts';
import { createEventTexts } from '../../../services/gateway/src/queues/event-texts.ts';
import {
  createPolls,
  type Hangup,
  type PollAnswer,
  type PollRequest,
} from '../../../services/gateway/src/queues/polls.ts';
import { actorOf } from './services.ts';

/** The user of a request, and its gateway. */
export interface Caller {
  realmId: number;
  userId: number;
  /** The client's `Idempotency-Key`. */
  key?: string;
}

/** A gateway without HTTP: tails and polls connected as in `startGateway`. */
export interface Gateway {
  request<O extends Operation>(operation: O, params: ParamsOf<O>, caller: Caller): Promise<ResultOf<O>>;
  poll(caller: Caller, request: PollRequest, hangup: Hangup): Promise<PollAnswer>;
}

const requestMs = 20_000;
const pollMs = 70_000;

export function openGateway(bus: Bus, redis: LogRedis, logger: Logger): Gateway {
  /** Versions of actors according to the log, as an authenticator caches them. */
  const versions = new Map<string, number>();
  const verifier = createLogVerifier(bus, logger);
  const tails = createRealmTails({
    bus,
    log: redis,
    verifier,
    logger,
    maxBytes: 60_000,
    onEntry: (realmId, entry) => {
      learn(realmId, entry);
      polls.follow(realmId, entry);
    },
    onSkip: (realmId) => polls.lost(realmId),
  });
  const texts = createEventTexts(20_000);
  const polls = createPolls({
    ...{ bus, log: redis, verifier, tails, texts, maxQueues: 100, maxRecordBytes: 1_000_000 },
    onDelivered: () => undefined,
    inTurn: (_, work) => work(),
  });
  confirmService(bus, logger);
  let requests = 0;

  function learn(realmId: number, { event }: LogEntry): void {
    if (event.type !== 'realm_user') return;
    const { user_id, full_name } = event.body.person as { user_id: number; full_name: string };
    versions.set(`${realmId} ${user_id}`, Number(full_name));
  }
  const actor = ({ realmId, userId }: Caller) => actorOf(realmId, userId, versions.get(`${realmId} ${userId}`) ?? 0);
  const meta = ({ realmId, key }: Caller): RequestMeta => ({
    requestId: `request${++requests}`,
    realmId,
    client: 'simulation',
    idempotencyKey: key,
  });

  return {
    request: (operation, params, caller) =>
      withDeadline(requestMs, () => bus.call(operation, params, { actor: actor(caller), meta: meta(caller) })),
    poll: (caller, request, hangup) => {
      const poller = { actor: actor(caller), meta: meta(caller), identify: async () => actor(caller), hangup };
      return withDeadline(pollMs, () => polls.poll(poller, request));
    },
  };
}
