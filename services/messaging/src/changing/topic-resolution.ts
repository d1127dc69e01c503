/** A resolved topic bears this mark before its name. */
const resolvedPrefix = '✔ ';

export const isResolved = (topic: string): boolean => topic.startsWith(resolvedPrefix);

/** Whether one topic is the other, marked as resolved. */
export const isResolveToggle = (before: string, after: string): boolean =>
  after === `${resolvedPrefix}${before}` || before === `${resolvedPrefix}${after}`;
