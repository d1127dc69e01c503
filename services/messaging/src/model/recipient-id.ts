import { createHash } from 'node:crypto';

/** The id of a direct conversation, derived from its participants: 31 bits, because of generated clients. */
export const recipientIdOf = (participantIds: readonly number[]): number =>
  createHash('sha256').update(participantIds.join(',')).digest().readUInt32BE(0) >>> 1;
