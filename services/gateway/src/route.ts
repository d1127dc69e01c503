import { ChatError } from '@natter/contracts';
import { inSpan } from '@natter/service-kit';
import type { Call } from './answer-operation.ts';
import type { Exchange } from './caller.ts';
import { bodyFieldsOf, fieldsOf } from './request-fields.ts';
import { headerOf } from './request-meta.ts';
import type { Router } from './router.ts';

/** Finds the operation of a request and has it answered; answers OPTIONS and unknown verbs itself. */
export async function route(
  { router, answer }: { router: Router; answer: (call: Call) => Promise<unknown> },
  { request, reply }: Exchange,
): Promise<unknown> {
  const place = router.find(request.url.split('?')[0] ?? '');
  if (!place) throw new ChatError('NOT_FOUND', 'Not found');
  const isCrossOrigin = place.methods.some((method) => place.operation(method)?.operation.isCrossOrigin);
  if (isCrossOrigin) reply.header('access-control-allow-origin', '*');
  if (request.method === 'OPTIONS') {
    if (isCrossOrigin)
      reply
        .header('access-control-allow-methods', place.methods.join(', '))
        .header('access-control-allow-headers', 'authorization, content-type')
        .header('access-control-max-age', 86_400);
    return reply.code(204).header('allow', place.methods.join(', ')).send();
  }
  const fields = fieldsOf(request);
  // A form may name another verb than its request.
  const override = request.method === 'POST' ? bodyFieldsOf(request).method?.toUpperCase() : undefined;
  const found = place.operation(override ?? (request.method === 'HEAD' ? 'GET' : request.method));
  if (!found)
    return reply
      .code(405)
      .header('allow', place.methods.join(', '))
      .send({ result: 'error', msg: 'Method Not Allowed', allowed_methods: place.methods });
  const { operation, path } = found;
  if (override !== undefined && operation.params.method === undefined) delete fields.method;
  request.operationName = operation.name;
  const parent = headerOf(request, 'traceparent');
  return inSpan(`gateway ${operation.name}`, { kind: 'server', parent }, () =>
    answer({ operation, request, reply, fields, path }),
  );
}
