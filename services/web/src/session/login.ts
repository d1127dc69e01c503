/** How long the page stays after a form that ends the session, at most: its reader may have stopped the navigation. */
const maxLogOutMs = 10_000;

let isLoggingOut = false;
let due: (() => void) | undefined;

/** Leaves the page, unless it is being left already. */
export function navigate(go: () => void): void {
  if (isLoggingOut) due = go;
  else go();
}

/** Leads to the page to log in, and back. */
export function goToLogin(): void {
  const next = encodeURIComponent(location.pathname + location.search);
  navigate(() => location.assign(`/accounts/login?next=${next}`));
}

/**
 * For forms that end the session. The form itself leads to the page to log in; what its end causes, such as the refusal
 * of the next poll, starts no second navigation.
 */
export function onLogOut(): void {
  isLoggingOut = true;
  setTimeout(() => {
    isLoggingOut = false;
    due?.();
  }, maxLogOutMs);
  // The browser may restore this page from its cache.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
}
