/** A resolved topic has this prefix. */
const resolvedPrefix = '✔ ';

export const isResolved = (topic: string): boolean => topic.startsWith(resolvedPrefix);

/** Whether the topics differ only in the prefix of resolved topics. */
export const isResolveToggle = (before: string, after: string): boolean =>
  after === `${resolvedPrefix}${before}` || before === `${resolvedPrefix}${after}`;
