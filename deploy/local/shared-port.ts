import { lookup } from 'node:dns/promises';
import { BoundSocket } from 'node:net';

/**
 * A socket that this process opens and its children inherit; they accept connections from it. Connections that no
 * process has accepted yet belong to the socket: they survive the end of any child, and wait while one starts again.
 * With a socket of its own in each process (SO_REUSEPORT), the system resets those that wait for a process that ends,
 * and gives new ones to a process that is stopped. Port 0: any free one.
 */
export async function openSharedPort(host: string, port: number): Promise<BoundSocket> {
  const { address } = await lookup(host, { order: 'ipv4first' });
  return new BoundSocket({ host: address, port });
}

/** The URL at which this machine reaches the socket. */
export function urlOfSocket(socket: BoundSocket): string {
  const { address, family, port } = socket.address();
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
