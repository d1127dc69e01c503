import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';

export interface NameServer {
  /** Whether it answers. */
  isWell: boolean;
  /** How often it was asked. */
  asked: number;
  /** Environment with which processes look up names only at this server, not in the operating system. */
  env: Record<string, string>;
  close(): void;
}

/** A name server that answers all queries with the address 127.0.0.2. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const server: NameServer = { isWell: false, asked: 0, env: {}, close: () => void socket.close() };
  socket.on('message', (query, { port, address }) => {
    server.asked++;
    if (!server.isWell) return;
    const end = query.indexOf(0, 12) + 5;
    const isV4 = query.readUInt16BE(end - 4) === 1;
    const answer = Buffer.from(isV4 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 127, 0, 0, 2] : []);
    const header = Buffer.from([0x81, 0x80, 0, 1, 0, isV4 ? 1 : 0, 0, 0, 0, 0]);
    socket.send(Buffer.concat([query.subarray(0, 2), header, query.subarray(12, end), answer]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  server.env = {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ask-one-name-server.mjs')}`,
    NATTER_TEST_NAME_SERVER: `127.0.0.1:${socket.address().port}`,
  };
  return server;
}
