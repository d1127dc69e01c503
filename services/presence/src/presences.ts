import { legacy, modern } from './format.ts';
import type { HotState, Presence } from './hot-state.ts';
import type { PeopleShown } from './people.ts';
import type { Format, View } from './views.ts';

export const defaultHistoryDays = 14;

export interface Asked {
  /** Milliseconds of the clock that all processes share. */
  now: number;
  realmId: number;
  view: View;
  afterUpdateId: number;
  historyDays: number;
  format: Format;
}

export interface Shown {
  lastUpdateId: number;
  serverTimestamp: number;
  presences: Record<string, Record<string, unknown>>;
}

/** The presence of users who may be shown: the changes after an update, or those within the requested history. */
export async function presencesOf(hot: HotState, peopleShown: PeopleShown, asked: Asked): Promise<Shown> {
  const serverTimestamp = asked.now / 1000;
  const { lastUpdateId, presences } = await hot.read(asked.realmId, asked.afterUpdateId);
  const since = asked.afterUpdateId > 0 ? 0 : serverTimestamp - asked.historyDays * 86_400;
  const recent = presences.filter(
    ({ userId, connectedAt, activeAt }) => Math.max(connectedAt, activeAt) >= since && !asked.view.omitted.has(userId),
  );
  const shown = await peopleShown({ realmId: asked.realmId, ids: recent.map(({ userId }) => userId) });
  const people = new Map(shown.map((person) => [person.user_id, person]));
  const entry = (presence: Presence): [string, Record<string, unknown>][] => {
    const person = people.get(presence.userId);
    if (!person) return [];
    return asked.format === 'modern'
      ? [[String(presence.userId), modern(presence)]]
      : [[asked.view.emailOf(person), legacy(presence, serverTimestamp)]];
  };
  return {
    lastUpdateId: Math.max(asked.afterUpdateId, lastUpdateId),
    serverTimestamp,
    presences: Object.fromEntries(recent.flatMap(entry)),
  };
}
