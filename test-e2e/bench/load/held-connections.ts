import { connect, type Socket } from 'node:net';
import type { Address } from './connection.ts';

/** Connections that begin requests and send one byte of a header or body every second. */
export function holdConnections(address: Address, starts: readonly string[], count: number): { stop(): number } {
  const sockets = new Set<Socket>();
  let opened = 0;
  let isStopped = false;
  const open = (index: number): void => {
    if (isStopped) return;
    opened++;
    const socket = connect(address);
    sockets.add(socket);
    socket.write(starts[index % starts.length] ?? '');
    const drip = setInterval(() => socket.write('x'), 1_000);
    socket.resume();
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(drip);
      sockets.delete(socket);
      setTimeout(() => open(index), 200);
    });
  };
  for (let index = 0; index < count; index++) open(index);
  return {
    stop() {
      isStopped = true;
      for (const socket of sockets) socket.destroy();
      return opened;
    },
  };
}
