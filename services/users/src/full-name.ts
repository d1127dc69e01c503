import { badRequest, limits } from '@natter/contracts';

/** 2 to 100 characters, no control characters, nothing that mentions and links are written with. */
export function checkedFullName(name: string): string {
  const stripped = name.trim();
  if (stripped.length < 2) throw badRequest('Name too short!');
  if (stripped.length > limits.fullNameLength) throw badRequest('Name too long!');
  if (/[\p{C}*`\\>"@]/u.test(stripped) || /\|\d+$/.test(stripped)) throw badRequest('Invalid characters in name!');
  return stripped;
}
