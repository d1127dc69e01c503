import { channelOperations } from '@natter/contracts';
import { appliedNumber, eventsAfter, sql, VersionsChanged, type Work } from '@natter/database';
import type { Bus, WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { defaultChannelNames } from './default-channel-names.ts';

interface DefaultChannels {
  default_sending_stream?: string | undefined;
  default_events_register_stream?: string | undefined;
}

/** The default channels of a bot, in their exact spelling. Throws if the caller may not see one of them. */
export async function withKnownChannels<P extends DefaultChannels>(
  bus: Bus,
  { actor, meta }: WriteContext,
  params: P,
): Promise<P> {
  const given = namesIn(params);
  if (given.length === 0) return params;
  const { names } = await bus.call(channelOperations.getKnownNames, { names: given }, { actor, meta });
  const { default_sending_stream: sending, default_events_register_stream: events } = params;
  const known = (name: string | undefined) => (name ? names[given.indexOf(name)] : name);
  return { ...params, default_sending_stream: known(sending), default_events_register_stream: known(events) };
}

const namesIn = (params: DefaultChannels): string[] => [
  ...new Set(
    [params.default_sending_stream, params.default_events_register_stream].filter(
      (name): name is string => name !== undefined && name !== '',
    ),
  ),
];

const waitingRow = z.object({ is_waiting: z.boolean() });

/**
 * Names that another channel had before are stored only when its rename has been applied to the bots: it would rename
 * the default channel again. The realm is locked, so that the rename is not applied meanwhile.
 */
export async function requireAppliedRenames(work: Work, params: DefaultChannels): Promise<void> {
  const names = namesIn(params);
  if (names.length === 0) return;
  const { is_waiting } = await work.one(sql.type(waitingRow)`
    SELECT EXISTS (SELECT FROM ${eventsAfter(work.realmId, appliedNumber('users', work.realmId, defaultChannelNames), ['stream'])} e
      WHERE e.event->>'op' = 'update' AND e.event->'body'->>'property' = 'name'
        AND e.event->'body'->>'name' = ANY(${sql.array(names, 'text')})) AS is_waiting`);
  if (is_waiting) throw new VersionsChanged('the default channels of bots', 'row');
}
