import { badRequest, limits, topicOfName } from '@natter/contracts';

/**
 * Text above its limit is cut and marked as truncated instead of being refused, because bots do not retry refused
 * messages. Lengths are in code points.
 */
export const truncatedContent = (content: string): string =>
  truncated(content, limits.messageLength, '\n[message truncated]');

export const truncatedTopic = (topic: string): string => truncated(topic, limits.topicLength, '...');

/** The topic that a message or a move names, truncated. Refuses control characters and halves of surrogate pairs. */
export function namedTopic(given: string): string {
  const topic = topicOfName(given.trim());
  if (/[\p{Cc}\p{Cs}]/u.test(topic)) throw badRequest('Invalid character in topic');
  return truncatedTopic(topic);
}

function truncated(text: string, limit: number, mark: string): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  return characters.length <= limit ? text : characters.slice(0, limit - mark.length).join('') + mark;
}
