/** The token of the session's cookie; its name has a prefix where the page came by HTTPS. */
export function csrfToken(): string {
  const pairs = document.cookie.split('; ').map((pair) => pair.split('='));
  return pairs.find(([name]) => name === '__Host-csrftoken' || name === 'csrftoken')?.[1] ?? '';
}
