import type { ChatEvent } from '@natter/client';
import type { Emoji } from './place.ts';
import type { RawPresences, Snapshot } from './snapshot.ts';

export interface Status {
  text: string;
  emoji: Readonly<Record<keyof Emoji, string>> | undefined;
}

/** Times in seconds, by the clock of the server. */
interface Seen {
  activeAt: number;
  connectedAt: number;
}

/** The presence of people, as the server has reported it. */
interface Presence {
  people: ReadonlyMap<number, Seen>;
  /** The last update that is known. */
  updateId: number;
  offlineAfterSeconds: number;
  pingSeconds: number;
}

/** Statuses, presence and mutes of other people. */
export interface Social {
  statuses: ReadonlyMap<number, Status>;
  /** The people whom the reader muted. */
  muted: ReadonlySet<number>;
  /** Messages that contain one of these words notify the reader. */
  alertWords: readonly string[];
  presence: Presence;
}

type RawStatus = Snapshot['user_status'][string];
type SocialFields =
  | ('user_status' | 'muted_users' | 'alert_words' | 'presences' | 'presence_last_update_id')
  | ('server_presence_ping_interval_seconds' | 'server_presence_offline_threshold_seconds');

/** The types of events, and of parts of the register's answer, that belong here. */
export const socialTypes = ['presence', 'user_status', 'muted_users', 'alert_words'];

export function socialOf(raw: Pick<Snapshot, SocialFields>): Social {
  const statuses = new Map<number, Status>();
  for (const [id, status] of Object.entries(raw.user_status)) setStatus(statuses, Number(id), status);
  return {
    statuses,
    muted: new Set(raw.muted_users.map(({ id }) => id)),
    alertWords: raw.alert_words,
    presence: {
      people: seen(new Map(), raw.presences),
      updateId: raw.presence_last_update_id,
      offlineAfterSeconds: raw.server_presence_offline_threshold_seconds,
      pingSeconds: raw.server_presence_ping_interval_seconds,
    },
  };
}

/** An absent field is unchanged, an empty one is cleared. */
function setStatus(statuses: Map<number, Status>, userId: number, change: RawStatus): void {
  const known = statuses.get(userId);
  const name = change.emoji_name ?? known?.emoji?.emoji_name ?? '';
  const emoji = {
    emoji_name: name,
    emoji_code: change.emoji_code ?? known?.emoji?.emoji_code ?? '',
    reaction_type: change.reaction_type ?? known?.emoji?.reaction_type ?? '',
  };
  const status = { text: change.status_text ?? known?.text ?? '', emoji: name === '' ? undefined : emoji };
  if (status.text === '' && !status.emoji) statuses.delete(userId);
  else statuses.set(userId, status);
}

/** The latest times count: answers may overtake events. */
function seen(before: Presence['people'], raw: RawPresences): Presence['people'] {
  const people = new Map(before);
  for (const [id, { active_timestamp, idle_timestamp }] of Object.entries(raw)) {
    const known = people.get(Number(id));
    people.set(Number(id), {
      activeAt: Math.max(active_timestamp, known?.activeAt ?? 0),
      connectedAt: Math.max(idle_timestamp, known?.connectedAt ?? 0),
    });
  }
  return people;
}

export function applyToSocial<S extends Social>(social: S, event: ChatEvent): S {
  switch (event.type) {
    case 'muted_users':
      return { ...social, muted: new Set(event.muted_users.map(({ id }) => id)) };
    case 'alert_words':
      return { ...social, alertWords: event.alert_words };
    case 'user_status': {
      const statuses = new Map(social.statuses);
      setStatus(statuses, event.user_id, event);
      return { ...social, statuses };
    }
    case 'presence': {
      const { presence } = social;
      if (!('presences' in event)) return social;
      return { ...social, presence: { ...presence, people: seen(presence.people, event.presences) } };
    }
    default:
      return social;
  }
}

/** The answer to a report of the reader's own presence. */
export interface PresenceAnswer {
  updateId: number;
  presences: RawPresences;
}

export const withPresences = (presence: Presence, { updateId, presences }: PresenceAnswer): Presence => ({
  ...presence,
  updateId: Math.max(updateId, presence.updateId),
  people: seen(presence.people, presences),
});

/** A new snapshot may be older than presence answers received before it. */
export function laterPresence(earlier: Presence, next: Presence): Presence {
  const people = new Map(earlier.people);
  for (const [id, { activeAt, connectedAt }] of next.people) {
    const known = people.get(id);
    people.set(id, {
      activeAt: Math.max(activeAt, known?.activeAt ?? 0),
      connectedAt: Math.max(connectedAt, known?.connectedAt ?? 0),
    });
  }
  return { ...next, people, updateId: Math.max(earlier.updateId, next.updateId) };
}

export type Availability = 'active' | 'idle' | 'offline';

/** `now` in seconds, by the clock of the server. */
export function availabilityOf({ people, offlineAfterSeconds }: Presence, userId: number, now: number): Availability {
  const known = people.get(userId);
  const isRecent = (at: number | undefined): boolean => at !== undefined && at > 0 && now - at < offlineAfterSeconds;
  if (isRecent(known?.activeAt)) return 'active';
  return isRecent(known?.connectedAt) ? 'idle' : 'offline';
}

/** The time of the last presence of a person, in seconds; undefined if it is not known. */
export function lastSeenOf({ people }: Presence, userId: number): number | undefined {
  const { activeAt = 0, connectedAt = 0 } = people.get(userId) ?? {};
  return Math.max(activeAt, connectedAt) || undefined;
}
