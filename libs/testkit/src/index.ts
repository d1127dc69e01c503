/**
 * The basis of behaviour tests: a separate realm in a running system, a client per role, queues. The clients use only
 * the HTTP API; realms and users are created over the bus, like the operator's commands do.
 */
export { applied, noticesSent } from './applied.ts';
export { besideOthers } from './beside-others.ts';
export { type Answer, Client, exchange } from './client.ts';
export { connected, copyRow, countOf, totalNames } from './copies.ts';
export { type DocumentedOperation, documentedOperations } from './documented.ts';
export type { Json } from './json.ts';
export { differingCopies, eventsNotEmitted, undeclaredColumns } from './projections.ts';
export { Queue } from './queue.ts';
export { RawSocket, rawRequest } from './raw-socket.ts';
export { openRealm, type Realm } from './realm.ts';
export { redisRefusals } from './redis-refusals.ts';
