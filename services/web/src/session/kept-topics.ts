import { store, stored } from '../browser/storage.ts';
import { keptBelow } from './kept-texts.ts';

/** The topics of new messages of channels, for a browser that stores nothing. */
const topics = new Map<string, string>();

const nameOf = (ownId: number, channelId: number): string => keptBelow('topic', ownId) + channelId;

/** The topic that the writer has chosen for the next message of a channel; it is kept like the text. */
export function keptTopic(ownId: number, channelId: number): string {
  const name = nameOf(ownId, channelId);
  return topics.get(name) ?? stored(name) ?? '';
}

export function keepTopic(ownId: number, channelId: number, topic: string): void {
  const name = nameOf(ownId, channelId);
  topics.set(name, topic);
  store(name, topic === '' ? undefined : topic);
}
