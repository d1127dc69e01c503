import { type CommonConfig, createRealmPolicies, openOwner, type Process, type Running } from '@natter/service-kit';
import { groupUsesHandlers } from './group-uses.ts';
import { peopleConsumer } from './people.ts';
import { postingRulesHandlers } from './posting-rules.ts';
import { readHandlers } from './read-channels.ts';
import { subscribeHandlers } from './subscribe.ts';
import { unsubscribeHandlers } from './unsubscribe.ts';

/** Channels and who is subscribed to them. */
export async function startChannels(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'channels');
  peopleConsumer(owner);
  await process.bus.serve('channels', '1.0.0', [
    ...subscribeHandlers(owner, createRealmPolicies(process.bus)),
    ...unsubscribeHandlers(owner),
    ...readHandlers(owner),
    ...postingRulesHandlers(owner),
    ...groupUsesHandlers(owner),
  ]);
  return { stop: () => owner.close() };
}
