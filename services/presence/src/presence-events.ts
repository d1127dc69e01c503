import type { LogEvent } from '@natter/contracts';
import type { Appender } from '@natter/event-log';
import type { Logger } from '@natter/service-kit';
import { legacy, modern } from './format.ts';
import type { Presence } from './hot-state.ts';
import type { Receivers } from './views.ts';

/** Announces that a user came online; simultaneous arrivals in a realm are announced together. */
export type AnnouncePresence = (realmId: number, presence: Presence, receivers: readonly Receivers[]) => void;

interface Come extends Receivers {
  presence: Presence;
}

const gatherMs = 200;

export function createPresenceEvents(
  appender: Appender,
  log: Logger,
  now: () => number,
): { announce: AnnouncePresence; stop(): Promise<void> } {
  const waiting = new Map<number, Map<number, Come[]>>();
  const running = new Set<Promise<void>>();

  async function flush(realmId: number): Promise<void> {
    const people = [...(waiting.get(realmId)?.values() ?? [])].flat();
    waiting.delete(realmId);
    const forAll = people.filter(({ audience }) => audience === 'realm');
    for (const [index, come] of forAll.entries())
      await appender.appendEphemeral(realmId, eventOf(come, now() / 1000, index === 0 ? modernOf(forAll) : undefined));
    // Users whom some receivers may not see are announced one by one.
    for (const come of people.filter(({ audience }) => audience !== 'realm'))
      await appender.appendEphemeral(realmId, eventOf(come, now() / 1000, modernOf([come])));
  }

  return {
    announce(realmId, presence, receivers) {
      const come = receivers.map((some) => ({ ...some, presence }));
      const known = waiting.get(realmId);
      if (known) return void known.set(presence.userId, come);
      waiting.set(realmId, new Map([[presence.userId, come]]));
      setTimeout(() => {
        const work = flush(realmId).catch((error: unknown) => log.debug({ err: error }, 'presence event dropped'));
        running.add(work);
        void work.finally(() => running.delete(work));
      }, gatherMs);
    },
    stop: async () => {
      await Promise.all([...waiting.keys()].map((realmId) => flush(realmId).catch(() => undefined)));
      await Promise.all(running);
    },
  };
}

const modernOf = (people: readonly Come[]): Record<string, unknown> =>
  Object.fromEntries(people.map(({ presence }) => [presence.userId, modern(presence)]));

/** The event about one user for older clients; newer clients get one event about `all` users. */
function eventOf({ email, presence, audience }: Come, now: number, all: Record<string, unknown> | undefined): LogEvent {
  const { website } = legacy(presence, now);
  const old = { user_id: presence.userId, server_timestamp: now, presence: { website } };
  return {
    type: 'presence',
    body: {},
    audience,
    forms: [
      { capability: 'simplified_presence_events', is: true, patch: all ? { presences: all } : null },
      { capability: 'simplified_presence_events', is: false, patch: old },
      { capability: 'presence_email', is: true, patch: { email } },
    ],
  };
}
