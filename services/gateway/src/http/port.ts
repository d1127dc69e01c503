import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';

export interface Port {
  /** Accepts no more connections; resolves when the open ones have ended. Idle ones stay open. */
  close(): Promise<void>;
}

/** The port of a listening server. */
export function createPort(server: HttpServer): Port {
  let closed: Promise<void> | undefined;
  return {
    close: () => {
      // Closes right after the event loop looked for connections: those that still wait at a port of this process are
      // reset.
      closed ??= new Promise((resolve) => setImmediate(() => Server.prototype.close.call(server, () => resolve())));
      return closed;
    },
  };
}
