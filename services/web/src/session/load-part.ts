const waitMs = 1_000;

/**
 * Loads a part of the page when it is needed. During an outage this waits for the server. After an upgrade the parts have
 * other names, so the page is loaded again.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, waitMs * (1 + Math.random())));
    return load().catch(() => {
      location.reload();
      return new Promise<T>(() => undefined);
    });
  }
}

const isServed = (): Promise<boolean> =>
  fetch('/', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
