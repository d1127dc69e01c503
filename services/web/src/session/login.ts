let isLoggingOut = false;

/** Leads to the page to log in, and back. */
export function goToLogin(): void {
  if (!isLoggingOut) location.assign(`/accounts/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/**
 * For forms that end the session. The form itself leads to the page to log in; the refusal of the next poll would start
 * a second navigation.
 */
export function onLogOut(): void {
  isLoggingOut = true;
  // The browser may restore this page from its cache.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
}
