import { badRequest, limits } from '@natter/contracts';

export function checkedDescription(description: string): string {
  const text = oneLine(description);
  if ([...text].length > limits.channelDescriptionLength)
    throw badRequest(`description is too long (limit: ${limits.channelDescriptionLength} characters)`);
  return text;
}

export const oneLine = (description: string): string => description.trim().replaceAll(/\r\n?|\n/g, ' ');
