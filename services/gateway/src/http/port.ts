import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, BoundSocket, createServer, Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Connections that wait to be accepted; systems apply their own maximum. */
const backlog = 4_096;
/**
 * Number of listening sockets at an address. Node accepts one connection of each per turn of the event loop (libuv since
 * 1.45), and a busy turn takes 25 to 150 ms. With 64 sockets, 4,000 new connections waited for up to two seconds.
 */
const sockets = 256;
/** A closing port accepts waiting connections for this many turns of the event loop at most. */
const maxTurnsToClose = 100;

/** The place to listen at: inherited descriptors of one bound socket, or an address. */
type Place = { fds: readonly number[] } | { host: string; port: number };

export interface Port {
  /** Rejects if another program has the port. Returns its number. */
  listen(place: Place): Promise<number>;
  /** Accepts no more connections; resolves when the open ones have ended. Idle ones stay open. */
  close(): Promise<void>;
}

/** The port at which a server receives connections. */
export function createPort(server: HttpServer): Port {
  const listening: Server[] = [];
  let closed: Promise<void> | undefined;
  let accepted = 0;
  /** Whether connections that wait are lost when this process closes the port. */
  let isOwn = false;
  server.on('connection', () => accepted++);

  async function listen(options: { fd: number } | { host: string; port: number; reusePort: boolean }): Promise<void> {
    const isFirst = listening.length === 0;
    // The same options as those of the HTTP server.
    const one = isFirst ? server : createServer({ allowHalfOpen: true, noDelay: true });
    if (!isFirst) one.on('connection', (socket) => server.emit('connection', socket));
    // For a descriptor, Node reads the backlog of the second argument only.
    one.listen({ ...options, backlog }, backlog);
    await once(one, 'listening');
    listening.push(one);
  }

  async function closeAll(): Promise<void> {
    if (isOwn) await acceptWaiting();
    const closing = listening.map(
      (one) => new Promise<void>((resolve) => Server.prototype.close.call(one, () => resolve())),
    );
    await Promise.all(closing);
  }

  /** Connections that wait at a port of this process are reset when it closes, so they are accepted before. */
  async function acceptWaiting(): Promise<void> {
    await nextTurn();
    for (let turn = 0, before = -1; turn < maxTurnsToClose && accepted !== before; turn++) {
      before = accepted;
      await nextTurn();
    }
  }

  return {
    async listen(place) {
      if ('fds' in place) for (const fd of place.fds) await listen({ fd });
      else {
        isOwn = true;
        const { address: host } = await lookup(place.host, { order: 'ipv4first' });
        // With SO_REUSEPORT, a port that another program uses would not be refused.
        new BoundSocket({ host, port: place.port }).close();
        const reusePort = process.platform === 'linux';
        for (let index = 0; index < (reusePort ? sockets : 1); index++)
          await listen({ host, port: portOf(listening[0]) ?? place.port, reusePort });
      }
      return portOf(listening[0]) ?? 0;
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

const portOf = (server: Server | undefined): number | undefined => (server?.address() as AddressInfo | null)?.port;
