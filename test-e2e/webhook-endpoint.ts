import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  headers: IncomingMessage['headers'];
  body: string;
}
/** `count`: the number of requests for this path, this one included. */
export type Respond = (to: ServerResponse, count: number) => void;

/** A server to which messages for outgoing webhook bots are posted. */
export interface Endpoint {
  addressOf(path: string): string;
  respond(path: string, respond: Respond): void;
  requestsFor(path: string): readonly Asked[];
  close(): void;
}

export async function openEndpoint(host: string): Promise<Endpoint> {
  const asked = new Map<string, Asked[]>();
  const responses = new Map<string, Respond>();
  const server = createServer(async (from, to) => {
    const path = from.url ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of from as AsyncIterable<Buffer>) chunks.push(chunk);
    const all = [...(asked.get(path) ?? []), { headers: from.headers, body: Buffer.concat(chunks).toString() }];
    asked.set(path, all);
    responses.get(path)?.(to, all.length);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    addressOf: (path) => `http://${host}:${(server.address() as AddressInfo).port}${path}`,
    respond: (path, respond) => void responses.set(path, respond),
    requestsFor: (path) => asked.get(path) ?? [],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
