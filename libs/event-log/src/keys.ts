/** All keys of a realm share a hash tag, so that a cluster keeps them together. */
export const streamKey = (realmId: number): string => `natter:{${realmId}}:log`;
export const metaKey = (realmId: number): string => `natter:{${realmId}}:log-meta`;
export const queueKey = (realmId: number, queueId: string): string => `natter:{${realmId}}:queue:${queueId}`;
export const generationKey = (realmId: number, queueId: string): string => `natter:{${realmId}}:poll:${queueId}`;
export const rateKey = (realmId: number, who: string): string => `natter:{${realmId}}:rate:${who}`;

/** Subject on which new entries of a realm are published to gateways. */
export const logSubject = (realmId: number | '*'): string => `natter.log.${realmId}`;
/** Subject that announces committed events of a type to consumers. */
export const committedSubject = (type: string, realmId: number | '*'): string => `natter.committed-${type}.${realmId}`;
/** Subject that announces a newer poll, a deletion or an expiry to the gateway that holds a poll of the queue. */
export const queueSubject = (realmId: number | '*'): string => `natter.queue.${realmId}`;
/** Subject that carries the id of a realm whose stream has another history than the record. */
export const logConflictSubject = 'natter.log-conflict';
/** Subject of hints for the scheduler: the number of seconds after which something new is due. */
export const scheduledSubject = 'natter.scheduled';
