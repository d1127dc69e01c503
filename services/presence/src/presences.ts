import { legacy, modern } from './format.ts';
import type { HotState, Presence } from './hot-state.ts';
import type { PeopleShown } from './people.ts';

export const defaultHistoryDays = 14;

export interface Asked {
  realmId: number;
  /** These may not be shown. */
  hidden: ReadonlySet<number>;
  afterUpdateId: number;
  historyDays: number;
  format: 'modern' | 'legacy';
}

export interface Shown {
  lastUpdateId: number;
  serverTimestamp: number;
  presences: Record<string, Record<string, unknown>>;
}

/** Who is here, of those that may be shown: what changed after an update, or what is not older than the history asked for. */
export async function presencesOf(hot: HotState, peopleShown: PeopleShown, asked: Asked): Promise<Shown> {
  const serverTimestamp = Date.now() / 1000;
  const { lastUpdateId, presences } = await hot.read(asked.realmId, asked.afterUpdateId);
  const since = asked.afterUpdateId > 0 ? 0 : serverTimestamp - asked.historyDays * 86_400;
  const recent = presences.filter(
    ({ userId, connectedAt, activeAt }) => Math.max(connectedAt, activeAt) >= since && !asked.hidden.has(userId),
  );
  const shown = await peopleShown({ realmId: asked.realmId, ids: recent.map(({ userId }) => userId) });
  const people = new Map(shown.map((person) => [person.user_id, person]));
  const entry = (presence: Presence): [string, Record<string, unknown>][] => {
    const person = people.get(presence.userId);
    if (!person) return [];
    return asked.format === 'modern'
      ? [[String(presence.userId), modern(presence)]]
      : [[person.email, legacy(presence, serverTimestamp)]];
  };
  return {
    lastUpdateId: Math.max(asked.afterUpdateId, lastUpdateId),
    serverTimestamp,
    presences: Object.fromEntries(recent.flatMap(entry)),
  };
}
