import { channelOperations } from '@natter/contracts';
import type { Bus, WriteContext } from '@natter/service-kit';

interface DefaultChannels {
  default_sending_stream?: string | undefined;
  default_events_register_stream?: string | undefined;
}

/** The default channels of a bot as they are spelled; refuses those that the caller may not know. */
export async function withKnownChannels<P extends DefaultChannels>(
  bus: Bus,
  { actor, meta }: WriteContext,
  params: P,
): Promise<P> {
  const { default_sending_stream: sending, default_events_register_stream: events } = params;
  const given = [...new Set([sending, events].filter((name): name is string => name !== undefined && name !== ''))];
  if (given.length === 0) return params;
  const { names } = await bus.call(channelOperations.getKnownNames, { names: given }, { actor, meta });
  const known = (name: string | undefined) => (name ? names[given.indexOf(name)] : name);
  return { ...params, default_sending_stream: known(sending), default_events_register_stream: known(events) };
}
