import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

export interface Readiness {
  isStarted: boolean;
  isDraining: boolean;
}

/**
 * Probes and metrics on an internal port. Liveness reflects this process only. Readiness means started and not
 * draining: an outage that all replicas share must not remove all of them from service.
 */
export async function startOperationsServer(
  host: string,
  port: number,
  readiness: Readiness,
  registry: Registry,
): Promise<{ port: number; close(): Promise<void> }> {
  let collecting: Promise<string> | undefined;
  /** Concurrent requests share one collection. */
  const collect = (): Promise<string> => {
    collecting ??= registry.metrics().finally(() => {
      collecting = undefined;
    });
    return collecting;
  };
  const timeouts = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 65_000 };
  const server: Server = createServer(timeouts, (request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return response.end('ok\n');
    if (path === '/readyz') {
      const isReady = readiness.isStarted && !readiness.isDraining;
      response.statusCode = isReady ? 200 : 503;
      return response.end(isReady ? 'ready\n' : 'not ready\n');
    }
    if (path === '/metrics') {
      collect().then(
        (text) => response.setHeader('content-type', registry.contentType).end(text),
        (error: unknown) => {
          response.statusCode = 500;
          response.end(String(error));
        },
      );
      return;
    }
    response.statusCode = 404;
    response.end();
  });
  server.maxConnections = 200;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
