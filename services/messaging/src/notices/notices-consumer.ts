import type { LogEvent, User } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { storeStanding } from '../standing.ts';
import { channelChanged, channelsCreated } from './channel-notices.ts';
import { groupChanged } from './group-notices.ts';
import { storeRealmSettings } from './notice-settings.ts';
import { personJoined } from './person-notices.ts';
import { subscribedByOthers } from './subscription-notices.ts';

type Follow = (work: Work, event: LogEvent) => Promise<void>;

const follows: Record<string, Follow> = {
  'stream/create': channelsCreated,
  'stream/update': channelChanged,
  'subscription/add': subscribedByOthers,
  'user_group/add': groupChanged,
  'user_group/update': groupChanged,
  'user_group/add_members': groupChanged,
  'user_group/remove_members': groupChanged,
  'realm_user/add': personJoined,
  'realm/update': (work, { body }) => storeRealmSettings(work, { [String(body.property)]: body.value }),
  'realm/update_dict': (work, { body }) => storeRealmSettings(work, body.data as Record<string, unknown>),
};

/** What bots have to say about changes in other services; each change is answered once. */
export function noticesConsumer(owner: Owner, hint: (dueSeconds: number) => void): void {
  owner.consume({
    name: 'notices',
    types: ['stream', 'subscription', 'user_group', 'realm_user', 'realm'],
    handle: async (work, { event }) => {
      // Known here first, so that whoever is named in a notice is known by the name they had then.
      if (event.type === 'realm_user')
        await storeStanding(work, event.op, event.body.person as Partial<User> & { user_id: number });
      const follow = follows[`${event.type}/${event.op}`];
      if (!follow) return;
      await follow(work, event);
      // By then it is committed.
      hint(Date.now() / 1000 + 0.01);
    },
  });
}
