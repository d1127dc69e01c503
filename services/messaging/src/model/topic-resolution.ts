import { topicOfName } from '@natter/contracts';
import { truncatedTopic } from './truncated.ts';

/** A resolved topic has this prefix. */
const resolvedPrefix = '✔ ';
/** Clients may have marked a topic more than once. */
const allPrefixes = /^[✔ ]+/;

export const isResolved = (topic: string): boolean => topic.startsWith(resolvedPrefix);

/** Whether a topic gets the prefix of resolved topics or loses it, and changes in nothing else. A long name is truncated. */
export const isResolveToggle = (before: string, after: string): boolean =>
  isResolved(before)
    ? !isResolved(after) && after === before.replace(allPrefixes, '')
    : after === truncatedTopic(`${resolvedPrefix}${before}`);

/** Whether the name is that of the empty topic with the prefix of resolved topics. */
export const isResolvedEmptyTopic = (name: string): boolean =>
  name === resolvedPrefix.trim() || (isResolved(name) && topicOfName(name.slice(resolvedPrefix.length)) === '');
