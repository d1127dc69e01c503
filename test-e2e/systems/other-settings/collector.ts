import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface SpanData {
  traceId: string;
  name: string;
}

/** Receives spans like an OpenTelemetry collector. */
export interface Collector {
  url: string;
  /** Names of a trace's spans, once all these are present. */
  trace(traceId: string, wanted: string[]): Promise<string[]>;
  stop(): void;
}

export async function startCollector(): Promise<Collector> {
  const spans: SpanData[] = [];
  let arrived: () => void = () => undefined;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      for (const resource of body.resourceSpans ?? [])
        for (const scope of resource.scopeSpans ?? []) spans.push(...scope.spans);
      response.setHeader('content-type', 'application/json').end('{}');
      arrived();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async trace(traceId, wanted) {
      for (;;) {
        const names = spans.filter((span) => span.traceId === traceId).map((span) => span.name);
        if (wanted.every((name) => names.includes(name))) return names;
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
    stop: () => server.close(),
  };
}
