import type { ServerResponse } from 'node:http';
import { Counts, WaitingTasks } from '@natter/service-kit';
import { whileConnected } from '../http/while-connected.ts';

/**
 * Limits the look-ups of credentials that are not known to be valid, because anybody can invent some: few are in flight for a
 * network (an IPv4 address or an IPv6 /48), and few for all networks. Networks take turns, and within a network its connections.
 * So the first request with a valid credential waits for at most one look-up of each other connection of its network. The
 * connections of a network, and the requests in flight on each, limit how many look-ups wait.
 */
export interface LookUps {
  /** Rejects with SERVICE_UNAVAILABLE if `work` cannot start within its deadline, or before the client disconnects. */
  run<R>(network: string, response: ServerResponse, work: () => Promise<R>): Promise<R>;
  readonly inFlight: number;
}

const [maxInFlight, maxOfNetwork] = [64, 16];
const maxWaitMs = 60_000;
/** A network may hold half: more than its connections may send by default. */
const maxWaiting = 200_000;

interface Network {
  name: string;
  id: number;
  /** Requests that wait or are in flight. */
  requests: number;
}

export function createLookUps(): LookUps {
  const waiting = new WaitingTasks(maxWaiting);
  const networks = new Map<string, Network>();
  const inFlightOf = new Counts<number>();
  const connections = new WeakMap<object, number>();
  let lastId = 0;
  let inFlight = 0;

  return {
    async run(name, response, work) {
      const network = enter(name);
      try {
        await admitted(network.id, response);
        try {
          return await work();
        } finally {
          count(network.id, -1);
          while (inFlight < maxInFlight && waiting.startNext(mayHaveTurn));
        }
      } finally {
        leave(network);
      }
    },
    get inFlight() {
      return inFlight;
    },
  };

  function enter(name: string): Network {
    const network = networks.get(name) ?? { name, id: ++lastId, requests: 0 };
    networks.set(name, network);
    network.requests++;
    return network;
  }

  function leave(network: Network): void {
    network.requests--;
    if (network.requests === 0) networks.delete(network.name);
  }

  function count(networkId: number, by: 1 | -1): void {
    inFlight += by;
    inFlightOf.add(networkId, by);
  }

  function mayHaveTurn(networkId: number): boolean {
    return inFlightOf.of(networkId) < maxOfNetwork;
  }

  async function admitted(networkId: number, response: ServerResponse): Promise<void> {
    const begin = (): void => count(networkId, 1);
    if (inFlight < maxInFlight && mayHaveTurn(networkId) && waiting.sizeOf(networkId) === 0) return begin();
    const connection = response.req.socket;
    const connectionId = connections.get(connection) ?? ++lastId;
    connections.set(connection, connectionId);
    await whileConnected(response, maxWaitMs, () => waiting.wait({ realmId: networkId, userId: connectionId }, begin));
  }
}
