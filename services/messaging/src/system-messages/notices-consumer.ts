import type { LogEvent } from '@natter/contracts';
import type { Work } from '@natter/database';
import type { Owner } from '@natter/service-kit';
import { addRole, updateRole } from '../model/roles.ts';
import { dueNow } from '../model/scheduler-hint.ts';
import { channelChanged, channelsCreated } from './channel-notices.ts';
import { groupAdded, membersAdded, membersRemoved } from './group-notices.ts';
import { storeRealmSettings } from './notice-settings.ts';
import { personJoined } from './person-notices.ts';
import { subscribedByOthers } from './subscription-notices.ts';

const lookAfterMs = 10;

/**
 * Bot messages about changes in other services; one for each change. They take names from the projections of the
 * consumers that this one follows.
 */
export function noticesConsumer(owner: Owner, hint: (dueSeconds: number) => void): void {
  const answering =
    <E>(follow: (work: Work, event: E) => Promise<void>) =>
    async (work: Work, event: E): Promise<void> => {
      await follow(work, event);
      // A little later, so that the scheduler looks after the commit.
      setTimeout(() => hint(dueNow), lookAfterMs).unref();
    };
  owner.consume({
    name: 'notices',
    on: {
      'stream/create': answering(channelsCreated),
      'stream/update': answering(channelChanged),
      'subscription/add': answering(subscribedByOthers),
      'user_group/add': answering(groupAdded),
      'user_group/add_members': answering(membersAdded),
      'user_group/remove_members': answering(membersRemoved),
      'realm_user/add': answering(async (work, event: LogEvent<'realm_user/add'>) => {
        await addRole(work, event);
        await personJoined(work, event);
      }),
      'realm_user/update': updateRole,
      'realm/update': (work, { body }) => storeRealmSettings(work, { [body.property]: body.value }),
      'realm/update_dict': (work, { body }) => storeRealmSettings(work, body.data),
    },
  });
}
