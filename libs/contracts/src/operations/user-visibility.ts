import { z } from 'zod';
import { id, string } from '../model/bounded.ts';
import { operation } from '../model/operation.ts';
import { bool, ids, int, json, text } from '../model/param.ts';

const idSetSchema = z.union([z.object({ ids }), z.object({ offset: int, bits: z.string() })]);

/**
 * User visibility in realms that limit their guests (`can_access_all_users_group`). Bus only. The name of `getSight` is
 * that of earlier releases, which call it during an upgrade.
 */
export const userVisibilityOperations = {
  getSight: operation({
    name: 'get-sight',
    service: 'users',
    caller: 'internal',
    callers: ['channels', 'messaging', 'scheduler', 'presence'],
    summary: 'The users that a user may not see, and the users who may not see them. Bus only.',
    /** `until_current`: waits for outdated projections until the deadline, and not only for a moment. */
    params: { user_id: json(id), until_current: json(bool.optional()) },
    /** `is_current` is absent from answers of the previous release, which waits longer. */
    result: z.object({ hidden: idSetSchema, hidden_from: idSetSchema, is_current: z.boolean().optional() }),
    isReadOnly: true,
  }),
  /** Called by users when a realm begins to limit its guests; afterwards a consumer updates the projection. */
  listSubscribers: operation({
    name: 'list-subscribers',
    service: 'channels',
    caller: 'internal',
    callers: ['users'],
    summary: 'The subscribers of each channel of the realm, at this number of the log or later. Bus only.',
    result: z.object({ number: int, channels: z.array(z.object({ channel_id: int, users: idSetSchema })) }),
    isReadOnly: true,
    deadlineMs: 15_000,
  }),
  /** In pages: the next one begins after `next`. Callers of the previous release send no `after` and get all at once. */
  listDirectContacts: operation({
    name: 'list-direct-contacts',
    service: 'messaging',
    caller: 'internal',
    callers: ['users'],
    summary: 'The participants of each direct conversation, at this number of the log or later. Bus only.',
    params: { after: text(string(20_000).optional()) },
    result: z.object({ number: int, conversations: z.array(ids), next: z.string().optional() }),
    isReadOnly: true,
    deadlineMs: 15_000,
  }),
};
