import { badRequest } from './error.ts';
import { limits } from './limits.ts';
import { isVisible } from './text.ts';

/** The name to store; refuses invalid names. */
export function checkedChannelName(name: string): string {
  const stripped = name.trim();
  if (!isVisible(stripped)) throw badRequest("Channel name can't be empty.");
  if ([...stripped].length > limits.channelNameLength)
    throw badRequest(`Channel name too long (limit: ${limits.channelNameLength} characters).`);
  const position = [...stripped].findIndex((char) => /[\p{Cc}\p{Cn}\p{Cs}]/u.test(char));
  if (position >= 0) throw badRequest(`Invalid character in channel name, at position ${position + 1}.`);
  return stripped;
}
