import { type Database, sql } from '@natter/database';

const maxKept = 200_000;
const dayMs = 86_400_000;

/** Notes that somebody was here: a row once a day, user and process, so that partial lists of subscribers name them. */
export type NoteSeen = (realmId: number, userId: number) => void;

export function createNoteSeen(database: Database): NoteSeen {
  const noted = new Set<string>();
  let day = 0;
  return (realmId, userId) => {
    const today = Math.floor(Date.now() / dayMs);
    if (today !== day || noted.size >= maxKept) noted.clear();
    day = today;
    const key = `${realmId} ${userId}`;
    if (noted.has(key)) return;
    noted.add(key);
    // Not waited for, and lost at worst until the next request: nothing is decided by it.
    database
      .run(sql.unsafe`
        INSERT INTO channels.activity AS a (realm_id, user_id, day) VALUES (${realmId}, ${userId}, current_date)
        ON CONFLICT (realm_id, user_id) DO UPDATE SET day = excluded.day WHERE a.day < excluded.day`)
      .catch(() => noted.delete(key));
  };
}
