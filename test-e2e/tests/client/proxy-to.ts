import { createServer, type IncomingMessage, request, type Server } from 'node:http';

/** The realm under an address of its own: it is found by the Host header. */
export function proxyTo(
  host: string,
  url: string,
  onRequest: (request: IncomingMessage) => void = () => undefined,
): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    onRequest(incoming);
    const headers = { ...incoming.headers, host };
    const forwarded = request(`${url}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.once('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
