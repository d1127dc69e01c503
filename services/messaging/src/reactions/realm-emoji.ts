import type { Executor } from '@natter/database';
import type { RealmEmoji } from './named-emoji.ts';

/** The realm's own emoji that can be used. */
export async function readRealmEmoji(_executor: Executor, _realmId: number): Promise<RealmEmoji> {
  return { byName: () => undefined, byId: () => undefined };
}
