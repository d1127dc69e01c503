import { idSet, type LogEvent } from '@natter/contracts';
import type { Idempotency, Work } from '@natter/database';
import type { Owner, UserContext } from '@natter/service-kit';

/** A change of what belongs to the caller alone. */
export const ownChange = <R>(
  { unitOfWork }: Owner,
  { actor }: UserContext,
  write: (work: Work) => Promise<R>,
  idempotency?: Idempotency,
): Promise<R> =>
  unitOfWork({ realmId: actor.realmId, schema: 'users', idempotency }, async (work) => {
    work.restOn(actor.basis);
    return write(work);
  });

/** An event for one person's queues. */
export const toSelf = (
  userId: number,
  type: string,
  op: string | undefined,
  body: Record<string, unknown>,
): LogEvent => ({ type, ...(op === undefined ? {} : { op }), body, audience: { users: idSet([userId]) } });
