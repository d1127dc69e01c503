import { lookup } from 'node:dns/promises';
import { BoundSocket } from 'node:net';

export interface SharedPort {
  /** The descriptor that children inherit. */
  fd: number;
  port: number;
  /** The URL at which this machine reaches it. */
  url: string;
  /** Closes the descriptor of this process. Children keep theirs. */
  close(): void;
}

/**
 * A socket that this process opens and its children inherit; they accept connections from it. Connections that no
 * process has accepted yet belong to the socket: they survive the end of any child, and wait while one starts again.
 * With a socket of its own in each process (SO_REUSEPORT), the system resets those that wait for a process that ends,
 * and gives new ones to a process that is stopped. Port 0: any free one. Rejects with a message for the user.
 */
export async function openSharedPort(host: string, port: number): Promise<SharedPort> {
  const socket = await bind(host, port);
  let isOpen = true;
  return {
    fd: socket.fd(),
    port: socket.address().port,
    url: urlOfSocket(socket),
    close: () => {
      if (isOpen) socket.close();
      isOpen = false;
    },
  };
}

async function bind(host: string, port: number): Promise<BoundSocket> {
  try {
    const { address } = await lookup(host, { order: 'ipv4first' });
    return new BoundSocket({ host: address, port });
  } catch (error) {
    throw new Error(`cannot listen at ${host}:${port}: ${causeOf(error)}.`, { cause: error });
  }
}

function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return 'a program, perhaps another npm start, uses this port. Stop it, or set NATTER_HTTP_PORT to a free port';
  if (code === 'EACCES') return 'this user may not open this port. Set NATTER_HTTP_PORT to one above 1023';
  if (code === 'ERR_SOCKET_BAD_PORT') return 'NATTER_HTTP_PORT must be a number from 0 to 65535';
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return 'NATTER_HTTP_HOST is no address of this machine';
  return message;
}

function urlOfSocket(socket: BoundSocket): string {
  const { address, family, port } = socket.address();
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
