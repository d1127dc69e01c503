import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { needsActor, type Operation } from '@natter/contracts';
import { overloaded } from '@natter/service-kit';
import { isPollOf } from '../authentication/caller.ts';
import type { Connections } from '../http/connections.ts';
import type { GatewayMetrics } from '../http/gateway-metrics.ts';
import { uncached } from '../http/headers.ts';
import { originHeaders } from '../http/other-origins.ts';
import type { EarlyRefusals } from '../rate-limit/early-refusals.ts';
import type { Router } from './router.ts';

export interface RefuseEarlyContext {
  router: Router;
  earlyRefusals: EarlyRefusals;
  metrics: GatewayMetrics;
}

/** Unread bodies up to this size are cheap to discard. Requests with larger ones are not refused early. */
const maxBodyBytes = 64 * 1024;
const { message: msg, code } = overloaded('');
const body = JSON.stringify({ result: 'error', msg, code });
const answerHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
  'cache-control': uncached,
  'x-content-type-options': 'nosniff',
  'retry-after': '1',
};

/**
 * Answers a request with 503 if the fair share has no room for its realm. This happens before the framework handles the
 * request, because that costs more than the answer. Returns whether the request was answered.
 */
export function refuseEarly(
  { router, earlyRefusals, metrics }: RefuseEarlyContext,
  connections: Connections,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const tenant = earlyRefusals.tenantOf(request);
  if (!tenant || !hasSmallBody(request)) return false;
  const operation = operationOf(router, request);
  // Polls do not pass the fair share, and requests for operations without an account use the room of their network.
  if (
    !operation ||
    !needsActor(operation) ||
    isPollOf(operation) ||
    !earlyRefusals.tryRefuse(tenant, request, response)
  )
    return false;
  const begunAt = performance.now();
  try {
    if (!connections.begin(request, response)) return true;
  } catch {
    // Too many requests of the connection are in flight. `begin` has marked it to be closed after this response.
  }
  response.writeHead(503, { ...answerHeaders, ...originHeaders(request.url), 'x-request-id': randomUUID() });
  response.end(body);
  metrics.answered(operation.name, 503, performance.now() - begunAt);
  return true;
}

/** Undefined for an invalid path. The framework handles and refuses such a request. */
function operationOf(router: Router, { url = '', method = '' }: IncomingMessage): Operation | undefined {
  try {
    return router.find(url.split('?', 1)[0] ?? '')?.operation(method)?.operation;
  } catch {
    return undefined;
  }
}

const hasSmallBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= maxBodyBytes;
