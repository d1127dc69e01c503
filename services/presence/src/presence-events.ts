import type { Audience, LogEvent } from '@natter/contracts';
import type { Appender } from '@natter/event-log';
import type { Logger } from '@natter/service-kit';
import { legacy, modern } from './format.ts';
import type { Presence } from './hot-state.ts';

/** Tells that somebody came; those who come together in a realm are told together. */
export type TellPresence = (realmId: number, email: string, presence: Presence, audience: Audience) => void;

interface Come {
  email: string;
  presence: Presence;
  audience: Audience;
}

const gatherMs = 200;

export function createPresenceEvents(appender: Appender, log: Logger): { tell: TellPresence; stop(): Promise<void> } {
  const waiting = new Map<number, Map<number, Come>>();
  const running = new Set<Promise<void>>();

  async function flush(realmId: number): Promise<void> {
    const people = [...(waiting.get(realmId)?.values() ?? [])];
    waiting.delete(realmId);
    const forAll = people.filter(({ audience }) => audience === 'realm');
    for (const [index, come] of forAll.entries())
      await appender.appendEphemeral(realmId, eventOf(come, index === 0 ? modernOf(forAll) : undefined));
    // Those whom some may not know are told one by one.
    for (const come of people.filter(({ audience }) => audience !== 'realm'))
      await appender.appendEphemeral(realmId, eventOf(come, modernOf([come])));
  }

  return {
    tell(realmId, email, presence, audience) {
      const known = waiting.get(realmId);
      if (known) return void known.set(presence.userId, { email, presence, audience });
      waiting.set(realmId, new Map([[presence.userId, { email, presence, audience }]]));
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

/** One event per person for older clients, one for all for newer ones. */
function eventOf({ email, presence, audience }: Come, together: Record<string, unknown> | undefined): LogEvent {
  const now = Date.now() / 1000;
  const { website } = legacy(presence, now);
  const old = { user_id: presence.userId, server_timestamp: now, presence: { website } };
  return {
    type: 'presence',
    body: {},
    audience,
    forms: [
      { capability: 'simplified_presence_events', is: true, patch: together ? { presences: together } : null },
      { capability: 'simplified_presence_events', is: false, patch: old },
      { capability: 'presence_email', is: true, patch: { email } },
    ],
  };
}
