/** How long a logout delays other navigations. Its reader may have stopped it, and stays on the page. */
const maxLogOutMs = 60_000;

let logOutTimer: ReturnType<typeof setTimeout> | undefined;
let due: (() => void) | undefined;

/** Whether a logout may still lead away from the page. */
export const isLoggingOut = (): boolean => logOutTimer !== undefined;

/** Calls `go`, which leaves the page. While a logout is running, `go` is called only after its time limit. */
export function navigate(go: () => void): void {
  if (logOutTimer === undefined) go();
  else due = go;
}

/** The longest address that the page to log in takes. */
const maxLength = 1_000;

/** The target of the login: the page of an address, with its link to a conversation. */
export function targetAfterLogin({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): string {
  // Browsers read `//host` as another server.
  const page = pathname.startsWith('//') ? '/' : pathname + search;
  const target = hash.startsWith('#narrow/') ? page + hash : page;
  return [target, page].find(({ length }) => length <= maxLength) ?? '/';
}

/** Opens the login page, which returns to the present page after the login. */
export function goToLogin(): void {
  const next = encodeURIComponent(targetAfterLogin(location));
  navigate(() => location.assign(`/accounts/login?next=${next}`));
}

/**
 * For forms that end the session. The form itself leads to the page to log in; consequences of the end, such as the refusal
 * of the next poll, start no second navigation.
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
