/**
 * What behaviour tests stand on: a realm of their own in a running system, a client per role, queues. The clients know only
 * the HTTP API; realms and people are set up over the bus, as an operator's commands do.
 */
export { type Answer, Client, exchange, type Form, type Json } from './client.ts';
export { copyRow, countOf, totalNames } from './copies.ts';
export { Queue } from './queue.ts';
export { type RawAnswer, RawSocket, rawRequest } from './raw-socket.ts';
export { openRealm, type Realm } from './realm.ts';
export { redisRefusals } from './redis-refusals.ts';
