import { Redis } from 'ioredis';

/**
 * The commands that Redis refused a service since its start, as "user: command key". A service continues without them,
 * so a missing right shows nowhere else.
 */
export async function redisRefusals(redisUrl: string): Promise<string[]> {
  const redis = new Redis(redisUrl);
  try {
    const entries = (await redis.call('ACL', 'LOG')) as unknown[];
    return entries.map((entry) => {
      const fields = Array.isArray(entry) ? entry : Object.entries(entry as object).flat();
      const field = (name: string): string => String(fields[fields.indexOf(name) + 1]);
      return `${field('username')}: ${field('reason')} ${field('object')}`;
    });
  } finally {
    redis.disconnect();
  }
}
