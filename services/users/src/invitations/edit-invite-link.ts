import { invitationOperations, isAdministrator } from '@natter/contracts';
import { sql } from '@natter/database';
import { type Bus, type Handlers, handleWrite } from '@natter/service-kit';
import { changeInvite } from './change-invite.ts';
import { requireGroups, requireRank } from './send-invites.ts';

export function editInviteLinkHandlers(bus: Bus): Handlers {
  return [
    handleWrite(invitationOperations.editInviteLink, async (context, { invite_id, ...params }) => {
      const { actor, meta } = context;
      const { stream_ids = null, group_ids = null, include_realm_default_subscriptions: defaults = null } = params;
      const { invite_as, invite_expires_in_minutes: minutes, welcome_message_custom_text: welcome } = params;
      if (stream_ids !== null && stream_ids.length > 0)
        await bus.call(invitationOperations.checkInvitedChannels, { stream_ids }, { actor, meta });
      return changeInvite(context, invite_id, true, async (work, row, holder) => {
        if (invite_as !== undefined) requireRank(holder, invite_as);
        if (group_ids !== null) await requireGroups(work, holder, group_ids);
        const text = welcome !== undefined && isAdministrator(holder) ? welcome : row.welcome_text;
        const end =
          minutes === undefined ? sql.fragment`expires_at` : sql.fragment`now() + make_interval(mins => ${minutes})`;
        await work.run(sql.unsafe`
          UPDATE users.invitation SET invite_as = ${invite_as ?? row.invite_as}, welcome_text = ${text}, expires_at = ${end},
            channel_ids = coalesce(${stream_ids && sql.array(stream_ids, 'int4')}, channel_ids),
            group_ids = coalesce(${group_ids && sql.array(group_ids, 'int4')}, group_ids),
            default_channels = coalesce(${defaults}, default_channels)
          WHERE id = ${row.id}`);
      });
    }),
  ];
}
