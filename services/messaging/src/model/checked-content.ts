import { badRequest } from '@natter/contracts';
import { truncatedContent } from './truncated.ts';

export function checkedContent(content: string): string {
  const stripped = content.trimEnd();
  if (stripped.trim() === '') throw badRequest('Message must not be empty');
  return truncatedContent(stripped);
}
