/**
 * Loads the page again if a file that `index.html` names cannot be loaded: during an upgrade, a gateway of another release
 * does not have it. The page loads this script first, under a name that is the same in all releases. It is not a module, so
 * it imports nothing. `browser/load-part.ts` loads the other files.
 */
const countKey = 'natter failed loads';
/** More failures in a row are shown to the user. */
const silentFailures = 3;
/** Grows from two seconds at most to 30 seconds at most. */
const waitMs = (count: number): number => 1_000 + Math.random() * Math.min(29_000, 500 * 2 ** count);
let hasFailed = false;

const root = (): HTMLElement | null => document.getElementById('root');
const hasBegun = (): boolean => (root()?.childElementCount ?? 0) > 0;

/** The address of a script or style sheet; empty for other elements. If a preload fails, the script of the client fails. */
function addressOf(target: EventTarget | null): string {
  if (target instanceof HTMLScriptElement) return target.src;
  return target instanceof HTMLLinkElement && target.rel === 'stylesheet' ? target.href : '';
}

/** The number of failures in this tab since its last complete load. */
function countAfter(outcome: 'failure' | 'complete load'): number {
  try {
    const count = outcome === 'failure' ? Number(sessionStorage.getItem(countKey)) + 1 : 0;
    sessionStorage.setItem(countKey, `${count}`);
    return count;
  } catch {
    // The storage is forbidden. The longest wait is then allowed from the beginning.
    return 10;
  }
}

const isServed = (): Promise<boolean> =>
  fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } }).then(
    ({ ok }) => ok,
    () => false,
  );

async function loadAgain(): Promise<void> {
  do {
    const [count, element] = [countAfter('failure'), root()];
    if (count > silentFailures && element && !hasBegun())
      element.textContent = 'Natter cannot be loaded at the moment. The page tries again.';
    await new Promise((resolve) => setTimeout(resolve, waitMs(count)));
  } while (!(await isServed()));
  location.reload();
}

// Errors of elements do not bubble. Extensions of browsers add other files, which the policy of the page may refuse.
const onError = ({ target }: Event): void => {
  if (hasFailed || hasBegun() || !addressOf(target).startsWith(`${location.origin}/assets/`)) return;
  hasFailed = true;
  void loadAgain();
};
addEventListener('error', onError, true);
addEventListener('load', () => !hasFailed && countAfter('complete load'));

export {};
