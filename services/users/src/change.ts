import { idSet, type LogEvent, type Operation } from '@natter/contracts';
import type { Work } from '@natter/database';
import { idempotencyOf, type Owner, type UserContext } from '@natter/service-kit';

/** A change that the caller asked for: one unit of work, on what their rights rest on, once for a key that they gave. */
export const change = <R>(
  { unitOfWork }: Owner,
  context: UserContext,
  { name }: Pick<Operation, 'name'>,
  params: unknown,
  write: (work: Work) => Promise<R>,
): Promise<R> => {
  const { actor } = context;
  const idempotency = idempotencyOf(context, name, params);
  return unitOfWork({ realmId: actor.realmId, schema: 'users', idempotency }, async (work) => {
    work.restOn(actor.basis);
    return write(work);
  });
};

/** An event for one person's queues. */
export const toSelf = (
  userId: number,
  type: string,
  op: string | undefined,
  body: Record<string, unknown>,
): LogEvent => ({ type, ...(op === undefined ? {} : { op }), body, audience: { users: idSet([userId]) } });
