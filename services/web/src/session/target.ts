import type { Place } from '../state/place.ts';

/** A conversation, as requests that send or schedule a message name it. */
export const targetOf = (place: Place) =>
  place.kind === 'topic'
    ? { type: 'channel' as const, to: place.channelId, topic: place.topic }
    : { type: 'direct' as const, to: [...place.userIds] };
