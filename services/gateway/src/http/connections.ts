import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { unavailable } from '@natter/contracts';
import { createLocalCounts, wideNetwork } from '@natter/service-kit';
import type { GatewayConfig } from './config.ts';
import type { CutReason } from './gateway-metrics.ts';
import { networkOf, type Proxies } from './network.ts';
import { createNetworkRoom } from './network-room.ts';
import { type BodyTransfer, createStalls, type Transfer } from './stalls.ts';

/** Maximum number of concurrent requests on one connection. */
const maxPipelined = 64;
/** How long the rest of a refused body is discarded, so that its sender can read the response. */
const lingerMs = 30_000;
/** Bytes that may be discarded for one network in a minute. Connections that send more are closed. */
const discarded = { bytes: 256 * 1024 * 1024, seconds: 60, everyMs: 250 };
/** A connection that is being closed is destroyed after this time without input. */
const silenceMs = 1_000;
/** A connection whose input is not read any more is reset after this time, so the client has to read its response before. */
const unreadMs = 5_000;

interface Connection {
  responses: Set<ServerResponse>;
  /** The body being received. */
  body: BodyTransfer | undefined;
  answer: Transfer;
  isClosing: boolean;
  /** The network of the client of the newest request, or of a proxy: an IPv4 address or an IPv6 /48. */
  network: string;
}

export interface Connections {
  /**
   * A request of a network has begun. Returns false if it will not be answered, because the connection is about to be
   * closed.
   */
  begin(request: IncomingMessage, response: ServerResponse, network?: string): boolean;
  /** Called before the body of a request is read: requests it from the client, and watches its progress. */
  onBody(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Whether the response must announce the end of the connection: the rest of its request would be discarded, and the
   * network has sent too many such bytes. A client that was not told would lose the request that it sends next.
   */
  mustClose(request: IncomingMessage): boolean;
  onClientError(error: NodeJS.ErrnoException, socket: Duplex): void;
  stop(): void;
}

/**
 * Limits the cost of connections: their number, requests in flight on each, the time of transfers without progress, and
 * the bytes of refused bodies. Node limits the time of headers, of whole requests and of idle connections.
 */
export function guardConnections(
  server: Server,
  config: GatewayConfig,
  proxies: Proxies,
  onCut: (reason: CutReason) => void,
): Connections {
  const connections = new Map<Duplex, Connection>();
  const expecting = new WeakSet<IncomingMessage>();
  const stalls = createStalls(config);
  const room = createNetworkRoom({
    network: config.NATTER_MAX_CONNECTIONS_PER_ADDRESS,
    wide: config.NATTER_MAX_CONNECTIONS / 4,
  });
  const discards = createLocalCounts();

  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    if (connections.size >= config.NATTER_MAX_CONNECTIONS) return void socket.destroy();
    const network = networkOf(socket.remoteAddress);
    const leave = proxies.has(socket.remoteAddress ?? '') ? () => undefined : room.enter(network);
    if (!leave) {
      onCut('address');
      socket.destroy();
      return;
    }
    const answer = { bytes: 0, at: performance.now() };
    const connection: Connection = {
      ...{ responses: new Set(), body: undefined, answer, isClosing: false, network: wideNetwork(network) },
    };
    connections.set(socket, connection);
    // Node calls this after a response with `connection: close`.
    socket.destroySoon = () => closeSoon(socket, connection, onDiscard);
    socket.once('close', () => {
      connections.delete(socket);
      leave();
    });
  });
  // `100 Continue` is sent only after the request was admitted.
  server.on('checkContinue', (request, response) => {
    expecting.add(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response);
  });
  const timer = setInterval(sweep, stalls.everyMs);
  timer.unref();

  function sweep(): void {
    if (stalls.wereMissed(connections.values())) return;
    for (const [duplex, connection] of connections) {
      const socket = duplex as Socket;
      if (stalls.isAnswerStalled(socket, connection.answer)) cut(socket);
      else if (connection.body && stalls.isBodyStalled(socket, connection.body)) {
        connection.body = undefined;
        refuse(socket, connection, [408, 'The request was sent too slowly'], onDiscard);
        onCut('stalled');
      }
    }
  }

  const isOver = (network: string): boolean => discards.get(network) > discarded.bytes;

  function onDiscard(socket: Socket, connection: Connection, bytes: number, isLast = false): void {
    discards.add(connection.network, bytes, discarded.seconds);
    // After the last byte of a body, the client may already have sent its next request.
    if (isLast || socket.destroyed || !isOver(connection.network)) return;
    connection.isClosing = true;
    onCut('discarded');
    stopReading(socket);
  }

  function cut(socket: Socket): void {
    onCut('stalled');
    socket.destroy();
  }

  return {
    begin(request, response, network = networkOf(request.socket.remoteAddress)) {
      const connection = connections.get(request.socket);
      if (!connection) return true;
      if (connection.isClosing) return false;
      connection.network = wideNetwork(network);
      connection.responses.add(response);
      response.once('close', () => {
        connection.responses.delete(response);
        if (connection.body?.request === request) connection.body = undefined;
        linger(request, connection, onDiscard);
      });
      if (connection.responses.size <= maxPipelined) return true;
      if (connection.responses.size > maxPipelined + 1) return false;
      onCut('pipelined');
      response.setHeader('connection', 'close');
      throw unavailable();
    },
    onBody(request, response) {
      const connection = connections.get(request.socket);
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      if (!connection || (encoding === undefined && Number(length ?? 0) === 0)) return;
      const now = performance.now();
      const bytes = request.socket.bytesRead;
      connection.body = { request, startBytes: bytes, startedAt: now, bytes, at: now };
      if (expecting.has(request)) response.writeContinue();
    },
    mustClose(request) {
      const connection = connections.get(request.socket);
      return connection !== undefined && !request.complete && isOver(connection.network);
    },
    onClientError(error, duplex) {
      const connection = connections.get(duplex);
      if (error.code === 'ECONNRESET' || !connection) return void duplex.destroy();
      onCut('malformed');
      const refusal = parserErrors[error.code ?? ''] ?? [400, 'The request is not valid HTTP'];
      refuse(duplex as Socket, connection, refusal, onDiscard);
    },
    stop: () => clearInterval(timer),
  };
}

const parserErrors: Record<string, [status: number, text: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request was sent too slowly'],
};

/** Counts bytes that were received and discarded. Unless they are the last ones of a body, it may close the connection. */
type OnDiscard = (socket: Socket, connection: Connection, bytes: number, isLast?: boolean) => void;

/** Responds without the framework and closes the connection. If another response is in progress, it only closes. */
function refuse(
  socket: Socket,
  connection: Connection,
  [status, msg]: [status: number, text: string],
  onDiscard: OnDiscard,
): void {
  const { responses } = connection;
  const isAnswering = responses.size > 1 || [...responses].some((response) => response.headersSent);
  if (isAnswering || !socket.writable) return void socket.destroy();
  const code = status === 431 || status === 413 ? 'REQUEST_TOO_LARGE' : 'BAD_REQUEST';
  const body = JSON.stringify({ result: 'error', msg, code });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
    // The path may be unknown. The text is the same for everyone.
    'access-control-allow-origin: *',
  ].join('\r\n');
  socket.write(`${head}\r\n\r\n${body}`);
  closeSoon(socket, connection, onDiscard);
}

/**
 * Sends what was written, then discards input until the client closes its side or is silent. A connection that is
 * closed with unread input is reset, and a reset discards responses that the client has not read yet.
 */
function closeSoon(socket: Socket, connection: Connection, onDiscard: OnDiscard): void {
  if (connection.isClosing) return;
  connection.isClosing = true;
  socket.end(() => {
    // Input that is not read any more is no silence.
    if (socket.isPaused()) return;
    socket.setTimeout(silenceMs, () => {
      const { bytesRead } = socket;
      // Input may have arrived while this process did not run.
      setImmediate(() => socket.bytesRead === bytesRead && socket.destroy());
    });
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
  // Detach the parser, so that requests that follow are not parsed.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => onDiscard(socket, connection, chunk.length));
  socket.resume();
}

/** Receives no more, and closes the connection when its client has had time to read the response. */
function stopReading(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.pause();
  socket.setTimeout(0);
  setTimeout(() => socket.destroy(), unreadMs).unref();
}

/** Discards the rest of an unread body for a while, then closes the connection. */
function linger(request: IncomingMessage, connection: Connection, onDiscard: OnDiscard): void {
  const { socket } = request;
  if (request.complete || socket.destroyed) return;
  request.resume();
  let counted = socket.bytesRead;
  // Node discards the body and emits no event for its chunks, so bytes are counted at the socket.
  const count = (isLast: boolean): void => {
    const before = counted;
    counted = socket.bytesRead;
    // The bytes are counted where the connection is being closed.
    if (!connection.isClosing) onDiscard(socket, connection, counted - before, isLast);
  };
  const counting = setInterval(() => count(false), discarded.everyMs);
  const timer = setTimeout(() => {
    if (!request.complete) socket.destroy();
  }, lingerMs);
  for (const each of [counting, timer]) each.unref();
  const stop = (): void => {
    clearInterval(counting);
    clearTimeout(timer);
    count(true);
  };
  socket.once('close', stop);
  request.once('end', () => {
    stop();
    socket.off('close', stop);
  });
}
