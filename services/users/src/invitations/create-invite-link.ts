import { invitationOperations } from '@natter/contracts';
import type { Work } from '@natter/database';
import { type Handlers, handleStored } from '@natter/service-kit';
import { lockAccount } from '../model/find-account.ts';
import { linkOf } from '../model/invitation-row.ts';
import { readRealm } from '../model/read-realm.ts';
import { type Draft, type Inviting, invite } from './send-invites.ts';

export function createInviteLinkHandlers(tools: Inviting): Handlers {
  const { seal } = tools;
  return [
    handleStored(
      invitationOperations.createInviteLink,
      (context, params) => {
        const write = async (work: Work, add: (drafts: Draft[]) => Promise<string[]>): Promise<KeptLink> => {
          await lockAccount(work, context.actor.userId);
          const [key = ''] = await add([{ email: null, notifyInviter: false }]);
          return { sealed_key: seal.seal(key), realm_url: (await readRealm(work, work.realmId)).url };
        };
        return invite(tools, context, params, write);
      },
      (kept: KeptLink) => ({
        invite_link: 'invite_link' in kept ? kept.invite_link : linkOf(kept.realm_url, seal.open(kept.sealed_key)),
      }),
    ),
  ];
}

/** An earlier release stored the whole link. */
type KeptLink = { sealed_key: string; realm_url: string } | { invite_link: string };
