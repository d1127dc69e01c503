import { afterAll } from 'vitest';
import { repeated } from './client.ts';

/** A busy machine needs a few. More of them show that the server refuses requests without need. */
const most = 20;

// Checks after every file how many of its requests were answered 503 and sent again.
afterAll(() => {
  const requests = repeated.splice(0);
  if (requests.length > most)
    throw new Error(
      `${requests.length} requests were answered 503 and sent again, more than ${most}: ${requests.join(', ')}`,
    );
});
