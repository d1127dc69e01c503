import { afterAll } from 'vitest';
import { asked } from './client.ts';

/** A busy machine needs a few. More of them show that the server refuses requests without need. */
const most = { requests: 20, share: 0.1 };

// Checks after every file how many of its requests were answered 503 and sent again.
afterAll(() => {
  const requests = asked.repeated.splice(0);
  const limit = Math.max(most.requests, most.share * asked.requests);
  asked.requests = 0;
  if (requests.length > limit)
    throw new Error(
      `${requests.length} requests were answered 503 and sent again, more than ${limit}: ${requests.join(', ')}`,
    );
});
