import { limits } from '@natter/contracts';

/**
 * Text above its limit is cut and marked as truncated instead of being refused, because bots do not retry refused
 * messages. Lengths are in code points.
 */
export const truncatedContent = (content: string): string =>
  truncated(content, limits.messageLength, '\n[message truncated]');

export const truncatedTopic = (topic: string): string => truncated(topic, limits.topicLength, '...');

function truncated(text: string, limit: number, mark: string): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  return characters.length <= limit ? text : characters.slice(0, limit - mark.length).join('') + mark;
}
