import { type Database, sql } from '@natter/database';

const maxKept = 200_000;
const dayMs = 86_400_000;

/** Records that a user was active: a row per day, user and process, for partial lists of subscribers. */
export type NoteSeen = (realmId: number, userId: number) => void;

export function createNoteSeen(database: Database): NoteSeen {
  const noted = new Set<string>();
  let day = 0;
  return (realmId, userId) => {
    const today = Math.floor(Date.now() / dayMs);
    if (today !== day) noted.clear();
    day = today;
    const key = `${realmId} ${userId}`;
    if (noted.has(key)) return;
    if (noted.size >= maxKept) noted.delete(noted.keys().next().value ?? '');
    noted.add(key);
    // Not awaited: if it fails, the next request stores the day. No decision depends on it.
    database
      .run(sql.unsafe`
        INSERT INTO channels.activity AS a (realm_id, user_id, day) VALUES (${realmId}, ${userId}, current_date)
        ON CONFLICT (realm_id, user_id) DO UPDATE SET day = excluded.day WHERE a.day < excluded.day`)
      .catch(() => noted.delete(key));
  };
}
