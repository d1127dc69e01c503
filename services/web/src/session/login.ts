/** How long a logout holds other navigations back. Its reader may have stopped it, and stays on the page. */
const maxLogOutMs = 60_000;

let logOutTimer: ReturnType<typeof setTimeout> | undefined;
let due: (() => void) | undefined;

/** Leaves the page, unless a logout does. */
export function navigate(go: () => void): void {
  if (logOutTimer === undefined) go();
  else due = go;
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
  clearTimeout(logOutTimer);
  due = undefined;
  logOutTimer = setTimeout(() => {
    logOutTimer = undefined;
    due?.();
  }, maxLogOutMs);
  // The browser may restore this page from its cache.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
}
