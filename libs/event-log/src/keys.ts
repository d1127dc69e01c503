/** All keys of a realm share a hash tag, so that a cluster keeps them together. */
export const streamKey = (realmId: number): string => `natter:{${realmId}}:log`;
export const metaKey = (realmId: number): string => `natter:{${realmId}}:log-meta`;
export const queueKey = (realmId: number, queueId: string): string => `natter:{${realmId}}:queue:${queueId}`;
export const generationKey = (realmId: number, queueId: string): string => `natter:{${realmId}}:poll:${queueId}`;
export const rateKey = (realmId: number, who: string): string => `natter:{${realmId}}:rate:${who}`;

/** Subject on which new entries of a realm are published to gateways. */
export const logSubject = (realmId: number | '*'): string => `natter.log.${realmId}`;
/** Subject on which it is told that events of a type were committed, for those who act on them. */
export const committedSubject = (type: string, realmId: number | '*'): string => `natter.committed-${type}.${realmId}`;
/** Subject on which a newer poll, a deletion or an expiry is told to whoever holds a poll of the queue. */
export const queueSubject = (realmId: number | '*'): string => `natter.queue.${realmId}`;
/** On which a realm's number is told whose stream holds another history than the record. */
export const logConflictSubject = 'natter.log-conflict';
/** On which it is told when something is due that was not known of, in seconds. */
export const scheduledSubject = 'natter.scheduled';
