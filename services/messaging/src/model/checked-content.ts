import { badRequest } from '@natter/contracts';
import { type MarkdownSource, markdownSource } from '@natter/markdown';
import { truncatedContent } from './truncated.ts';

/** Content without whitespace at its end and without newlines at its beginning; spaces there are part of the Markdown. */
export function checkedContent(content: string): MarkdownSource {
  const stripped = markdownSource(content).trimEnd().replace(/^\n+/, '');
  if (stripped === '') throw badRequest('Message must not be empty');
  return markdownSource(truncatedContent(stripped));
}
