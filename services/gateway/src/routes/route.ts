import { inSpan, withDeadline } from '@natter/service-kit';
import { asSessionError } from '../authentication/authenticator.ts';
import type { Exchange, Shown } from '../authentication/caller.ts';
import { checkCsrfToken } from '../authentication/cross-site.ts';
import type { BodyTurns } from '../http/body-turns.ts';
import { headerOf } from '../http/headers.ts';
import { fieldsOf, isLargeBody, readForm } from '../http/request-fields.ts';
import type { InTurn } from '../rate-limit/in-turn.ts';
import { tenantOf } from '../rate-limit/tenant.ts';
import { type Admitted, answerMethodNotAllowed, methodOf, usualDeadlineMs } from './admission.ts';
import type { Call } from './answer-operation.ts';

export interface RouteContext {
  answer: (call: Call) => Promise<unknown>;
  inTurn: InTurn;
  bodyTurns: BodyTurns;
}

/** Parses the body of an admitted request and answers it by its operation. */
export async function route(context: RouteContext, exchange: Exchange): Promise<unknown> {
  const { admitted } = exchange.request;
  if (!admitted) throw new Error('a request was routed before it was admitted');
  // The body stays in memory until the response is known, even if the client disconnects.
  admitted.lease.retain();
  try {
    return await routeForm(context, exchange, admitted);
  } catch (error) {
    // Services check the credentials again, on newer data than the gateway. Their errors name every credential a key.
    throw isSession(admitted.shown) ? asSessionError(error) : error;
  } finally {
    admitted.lease.release();
  }
}

const isSession = ({ credential, optionalSession }: Shown): boolean =>
  'session' in credential || optionalSession !== undefined;

async function routeForm(
  { answer, inTurn, bodyTurns }: RouteContext,
  { request, reply }: Exchange,
  admitted: Admitted,
): Promise<unknown> {
  const begunAt = performance.now();
  const isLarge = isLargeBody(request);
  const form = await readForm(request, bodyTurns, (parse) =>
    withDeadline(admitted.operation?.deadlineMs ?? usualDeadlineMs, () => inTurn(tenantOf(admitted), parse)),
  );
  admitted.spentMs += performance.now() - begunAt;
  const fields = fieldsOf(request, form);
  // A form may name another method than its request.
  const override = request.method === 'POST' ? form.fields.method?.toUpperCase() : undefined;
  const found = admitted.place.operation(override ?? methodOf(request, admitted.place));
  if (!found) return answerMethodNotAllowed(reply, admitted.place);
  const { operation, path } = found;
  const { surface } = admitted.place;
  checkCsrfToken(request, { surface, operation, realmUrl: admitted.meta.realmUrl }, form.fields, fields);
  request.operationName = operation.name;
  const given = headerOf(request, 'traceparent');
  const parent = given === undefined ? undefined : { ofClient: given };
  return inSpan(`gateway ${operation.name}`, { kind: 'server', parent }, () =>
    answer({ operation, request, reply, fields, files: form.files, isLarge, path, admitted }),
  );
}
