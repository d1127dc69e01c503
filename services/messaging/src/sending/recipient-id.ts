import { createHash } from 'node:crypto';

/** The number of a direct conversation: the same for the same participants, of 31 bits as generated clients need. */
export const recipientIdOf = (participantIds: readonly number[]): number =>
  createHash('sha256').update(participantIds.join(',')).digest().readUInt32BE(0) >>> 1;
