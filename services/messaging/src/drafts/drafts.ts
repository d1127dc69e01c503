import {
  type Actor,
  badRequest,
  draftOperations,
  idSet,
  missing,
  type RequestMeta,
  totals,
  type WrittenDraft,
} from '@natter/contracts';
import { lockFor, requireRoom, sql, VersionsChanged, type Work } from '@natter/database';
import type { RealmPolicies, UserVisibility } from '@natter/realm-policy';
import { type Handlers, handle, handleWrite } from '@natter/service-kit';
import { draftColumns, draftQuery, draftsAdded, draftsOf, draftUpdated } from '../model/draft-row.ts';
import { isOn, isSettingWaiting } from '../model/personal-settings.ts';
import { type CheckedDraft, checkDraft, type DraftSources } from './checked-draft.ts';

export interface DraftTools extends Pick<DraftSources, 'database' | 'access'> {
  policies: RealmPolicies;
  userVisibility: UserVisibility;
}

export function draftHandlers({ database, access, policies, userVisibility }: DraftTools): Handlers {
  const check = async (actor: Actor, meta: RequestMeta, drafts: readonly WrittenDraft[]): Promise<CheckedDraft[]> =>
    userVisibility.decideFor(actor, meta, await policies.get(meta, false), async (hidden) => {
      const checked: CheckedDraft[] = [];
      for (const draft of drafts) checked.push(await checkDraft({ database, access, hidden }, actor, meta, draft));
      return checked;
    });
  return [
    handle(draftOperations.getDrafts, async ({ actor }) => {
      if (!(await isOn(database, actor.realmId, actor.userId, synchronization))) throw switchedOff();
      const drafts = await draftsOf(database, actor.realmId, actor.userId);
      return { count: drafts.length, drafts };
    }),

    handleWrite(draftOperations.createDrafts, async (context, params) => {
      const { actor, meta } = context;
      const checked = await check(actor, meta, params.drafts);
      return context.write(async (work) => {
        await requireSynchronisation(work, actor);
        const drafts = [];
        for (const draft of checked) drafts.push(await insert(work, actor.userId, draft));
        await requireDraftRoom(work, actor.userId, drafts.length);
        if (drafts.length > 0) work.emit(draftsAdded(actor.userId, drafts));
        return { ids: drafts.map((draft) => draft.id) };
      });
    }),

    handleWrite(draftOperations.editDraft, async (context, { draft_id, draft }) => {
      const { actor, meta } = context;
      const own = sql.fragment`realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND id = ${draft_id}`;
      const known = await database.maybeOne(
        sql.type(draftQuery)`SELECT ${draftColumns} FROM messaging.draft WHERE ${own}`,
      );
      const [checked] = known ? await check(actor, meta, [draft]) : [];
      return context.write(async (work) => {
        await requireSynchronisation(work, actor);
        if (!checked) throw unknownDraft();
        const written = await work.maybeOne(sql.type(draftQuery)`
          UPDATE messaging.draft SET type = ${checked.type}, recipient_ids = ${sql.array(checked.to, 'int4')}, topic = ${checked.topic},
            content = ${checked.content}, edited_at = coalesce(${checked.editedAt ?? null}::float8, extract(epoch FROM clock_timestamp()))
          WHERE ${own} RETURNING ${draftColumns}`);
        if (!written) throw unknownDraft();
        await requireDraftRoom(work, actor.userId);
        work.emit(draftUpdated(actor.userId, written));
        return {};
      });
    }),

    handleWrite(draftOperations.deleteDraft, async (context, params) => {
      const { actor } = context;
      return context.write(async (work) => {
        await requireSynchronisation(work, actor);
        const gone = await work.run(sql.unsafe`
          DELETE FROM messaging.draft WHERE realm_id = ${actor.realmId} AND user_id = ${actor.userId} AND id = ${params.draft_id}`);
        if (gone === 0) throw unknownDraft();
        work.emit({
          type: 'drafts',
          op: 'remove',
          body: { draft_id: params.draft_id },
          audience: { users: idSet([actor.userId]) },
        });
        return {};
      });
    }),
  ];
}

const requireDraftRoom = (work: Work, userId: number, added = 1): Promise<void> =>
  requireRoom(
    work,
    totals.drafts,
    sql.fragment`messaging.draft WHERE realm_id = ${work.realmId} AND user_id = ${userId}`,
    sql.fragment`octet_length(content) + 8 * cardinality(recipient_ids)`,
    added,
  );

const insert = (work: Work, userId: number, draft: CheckedDraft) =>
  work.one(sql.type(draftQuery)`
    INSERT INTO messaging.draft (realm_id, user_id, type, recipient_ids, topic, content, edited_at)
    VALUES (${work.realmId}, ${userId}, ${draft.type}, ${sql.array(draft.to, 'int4')}, ${draft.topic}, ${draft.content},
      coalesce(${draft.editedAt ?? null}::float8, extract(epoch FROM clock_timestamp())))
    RETURNING ${draftColumns}`);

/**
 * Locked until the commit, so that no draft is stored while synchronization is switched off. While a change of the setting
 * is not applied here, the request is decided again: a switch that is applied later would delete the draft, also if the
 * user has switched synchronization on again meanwhile.
 */
async function requireSynchronisation(work: Work, actor: Actor): Promise<void> {
  await lockFor(work, 'drafts', actor.userId, 'shared');
  if (await isSettingWaiting(work, actor, synchronization))
    throw new VersionsChanged(`${synchronization} of user ${actor.userId}`, 'row');
  if (!(await isOn(work, actor.realmId, actor.userId, synchronization))) throw switchedOff();
}

const synchronization = 'enable_drafts_synchronization';
const switchedOff = () => badRequest('User has disabled synchronizing drafts.');
const unknownDraft = () => missing('Draft does not exist');
