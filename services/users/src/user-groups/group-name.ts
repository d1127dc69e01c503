import { badRequest, isVisible } from '@natter/contracts';

const maxName = 100;
const maxDescription = 1024;
/** These prefixes have another meaning in a mention or in names of system groups. */
const reserved = ['@', 'role:', 'user:', 'stream:', 'channel:'];

export function checkedGroupName(given: string): string {
  const name = given.trim();
  if (!isVisible(name)) throw badRequest("User group name can't be empty!");
  if ([...name].length > maxName) throw badRequest(`User group name cannot exceed ${maxName} characters.`);
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) throw badRequest('Invalid character in user group name!');
  const prefix = reserved.find((start) => name.startsWith(start));
  if (prefix !== undefined) throw badRequest(`User group name cannot start with '${prefix}'.`);
  return name;
}

export function checkedGroupDescription(description: string): string {
  if ([...description].length > maxDescription)
    throw badRequest(`description is too long (limit: ${maxDescription} characters)`);
  return description;
}

export const nameTaken = (name: string) => badRequest(`User group '${name}' already exists.`);
