import { navigate } from './login.ts';
import { store, stored } from './storage.ts';

const waitMs = 1_000;
/** Attempts while the server serves pages. In a rolling upgrade, another gateway may have the part. */
const attempts = 5;
const reloadKey = 'natter reloaded';
const reloadEveryMs = 600_000;

/**
 * Loads a part of the page that `index.html` does not name, when it is needed. During an outage this waits for the server.
 * After an upgrade the parts have other names, so the page is loaded again, but not more often than every ten minutes.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  for (let served = 0; ; ) {
    try {
      return await load();
    } catch {
      if (await isServed()) served++;
      if (served >= attempts && Date.now() - Number(stored(reloadKey) ?? 0) > reloadEveryMs) {
        store(reloadKey, String(Date.now()));
        navigate(() => location.reload());
        return new Promise<T>(() => undefined);
      }
      const growth = Math.min(30, Math.max(1, served - attempts));
      await new Promise((resolve) => setTimeout(resolve, waitMs * growth * (0.5 + Math.random())));
    }
  }
}

const isServed = (): Promise<boolean> =>
  fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } }).then(
    ({ ok }) => ok,
    () => false,
  );
