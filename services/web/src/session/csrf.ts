let own: string | undefined;

/**
 * The token of the session's cookie; its name has a prefix where the page came by HTTPS. It changes with each login: then
 * another person may be logged in, whose account this page must not write to, so the page begins anew. Until then its
 * requests are refused.
 */
export function csrfToken(): string {
  const pairs = document.cookie.split('; ').map((pair) => pair.split('='));
  const token = pairs.find(([name]) => name === '__Host-csrftoken' || name === 'csrftoken')?.[1] ?? '';
  own ??= token;
  if (token !== own) location.reload();
  return own;
}
