import { lookup } from 'node:dns/promises';
import net from 'node:net';

/** A port that this process opens for its children, which inherit the socket and accept connections from it. */
export interface SharedPort {
  port: number;
  /** For `stdio` of `spawn`. */
  socket: object;
  close(): void;
}

interface Handle {
  getsockname(into: { port?: number }): number;
  close(): void;
}

/**
 * Undocumented, and what node:cluster uses: binds a socket without accepting connections. Returns a negative error code
 * if the address is not one of this machine.
 */
const { _createServerHandle: bind } = net as typeof net & {
  _createServerHandle(address: string, port: number, family: number): Handle | number;
};

/**
 * Connections that no process has accepted yet belong to the socket, not to a process. So they survive the end of any
 * child, and wait while there is none. With a socket of its own in each process (SO_REUSEPORT), the system resets
 * those that wait for a process that ends, and gives new ones to a process that is stopped.
 */
export async function openSharedPort(host: string, port: number): Promise<SharedPort> {
  const { address, family } = await lookup(host);
  const socket = bind(address, port, family);
  const bound: { port?: number } = {};
  if (typeof socket === 'number' || socket.getsockname(bound) !== 0 || bound.port === undefined)
    throw new Error(`Cannot listen on ${address}, port ${port}: it is in use, or not an address of this machine`);
  return { port: bound.port, socket, close: () => socket.close() };
}
