import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:net';

export interface Port {
  /** Takes no more connections; done when those that are open have ended. Idle ones stay open. */
  close(): Promise<void>;
}

/** The port of a server that listens. */
export function createPort(server: HttpServer): Port {
  let closed: Promise<void> | undefined;
  return {
    close: () => {
      // Right after the loop accepted what was waiting: at a port that is shared, what still waits is reset.
      closed ??= new Promise((resolve) => setImmediate(() => Server.prototype.close.call(server, () => resolve())));
      return closed;
    },
  };
}
