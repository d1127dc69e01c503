import { navigate } from '../browser/login.ts';

let own: string | undefined;

/**
 * The token of the session's cookie; its name has a prefix if the page came by HTTPS. Each login changes it: another person
 * may have logged in, so the page is loaded again, and until then its requests are refused. After a logout the server
 * refuses requests with 401.
 */
export function csrfToken(): string {
  const token = tokenNow();
  own ??= token;
  if (token !== '' && token !== own) navigate(() => location.reload());
  return own;
}

/** Whether the session of this page has ended, and the browser knows it. */
export const isSessionOver = (): boolean => tokenNow() !== own;

function tokenNow(): string {
  const pairs = document.cookie.split('; ').map((pair) => pair.split('='));
  return pairs.find(([name]) => name === '__Host-csrftoken' || name === 'csrftoken')?.[1] ?? '';
}
