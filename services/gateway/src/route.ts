import { inSpan } from '@natter/service-kit';
import { answerMethodNotAllowed } from './admission.ts';
import type { Call } from './answer-operation.ts';
import type { Exchange } from './caller.ts';
import { bodyFieldsOf, fieldsOf } from './request-fields.ts';
import { headerOf } from './request-meta.ts';

/** Has an admitted request answered by its operation, now that its body is known. */
export async function route(answer: (call: Call) => Promise<unknown>, { request, reply }: Exchange): Promise<unknown> {
  const { admitted } = request;
  if (!admitted) throw new Error('a request was routed before it was admitted');
  const fields = fieldsOf(request);
  // A form may name another verb than its request.
  const override = request.method === 'POST' ? bodyFieldsOf(request).method?.toUpperCase() : undefined;
  const found = admitted.place.operation(override ?? (request.method === 'HEAD' ? 'GET' : request.method));
  if (!found) return answerMethodNotAllowed(reply, admitted.place);
  const { operation, path } = found;
  if (override !== undefined && operation.params.method === undefined) delete fields.method;
  request.operationName = operation.name;
  const parent = headerOf(request, 'traceparent');
  // A handler may hold the body longer than its client stays connected.
  admitted.lease.retain();
  try {
    return await inSpan(`gateway ${operation.name}`, { kind: 'server', parent }, () =>
      answer({ operation, request, reply, fields, path, admitted }),
    );
  } finally {
    admitted.lease.release();
  }
}
