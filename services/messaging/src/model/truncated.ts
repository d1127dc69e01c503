import { badRequest, limits, topicOfName } from '@natter/contracts';

/**
 * Text above its limit is cut and marked as truncated instead of being refused, because bots do not retry refused
 * messages. Lengths are in code points.
 */
export const truncatedContent = (content: string): string =>
  truncated(content, limits.messageLength, '\n[message truncated]');

export const truncatedTopic = (topic: string): string => truncated(topic, limits.topicLength, '...');

/**
 * The topic that a message or a move names, truncated. Refuses control characters, halves of surrogate pairs and unassigned
 * characters.
 */
export function namedTopic(given: string): string {
  const topic = topicOfName(given.trim());
  const position = [...topic].findIndex((char) => /[\p{Cc}\p{Cn}\p{Cs}]/u.test(char));
  if (position >= 0) throw badRequest(`Invalid character in topic, at position ${position + 1}!`);
  return truncatedTopic(topic);
}

function truncated(text: string, limit: number, mark: string): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  return characters.length <= limit ? text : characters.slice(0, limit - mark.length).join('') + mark;
}
