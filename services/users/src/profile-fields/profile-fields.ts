import {
  badRequest,
  type ProfileEntry,
  type ProfileField,
  profileFieldOperations,
  profileFieldTypes,
  totals,
} from '@natter/contracts';
import { requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { announceFields, holdFields, readFields, withoutPronouns } from '../model/field-row.ts';
import { checkedField, requireChangeable } from '../model/field-rules.ts';
import { lockAccount } from '../model/find-account.ts';
import { holderOf } from '../model/holder.ts';
import { isPermutation } from '../model/is-permutation.ts';
import { changeProfileData, removeValues, renderedValues } from '../model/profile-data.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { lockUserVisibility } from '../model/user-visibility.ts';

export function profileFieldHandlers(owner: Owner): Handlers {
  const changeFields = <R>(
    context: WriteContext,
    write: (work: Work, fields: ProfileField[]) => Promise<R>,
  ): Promise<R> =>
    context.write(async (work) => {
      const result = await write(work, await holdFields(work, 'alone'));
      await announceFields(work);
      return result;
    });
  const find = (fields: readonly ProfileField[], id: number): ProfileField => {
    const field = fields.find((candidate) => candidate.id === id);
    if (!field) throw badRequest(`Field id ${id} not found.`);
    return field;
  };
  const own = async (context: WriteContext, entries: readonly ProfileEntry[]): Promise<Record<string, never>> => {
    const values = await renderedValues(owner.renderer, context.actor, entries);
    return context.write(async (work) => {
      await lockUserVisibility(work);
      // Two requests may name the same values in different orders.
      await lockAccount(work, context.actor.userId);
      const holder = await holderOf(work, context.actor.userId);
      await changeProfileData(work, holder, holder.userId, values);
      return {};
    });
  };

  return [
    handle(profileFieldOperations.getProfileFields, async ({ actor }) => ({
      custom_fields: await readFields(owner.database, actor.realmId),
    })),

    handleWrite(profileFieldOperations.createProfileField, (context, params) =>
      changeFields(context, async (work, fields) => {
        const field = checkedField(
          {
            name: params.name ?? '',
            hint: params.hint ?? '',
            type: params.field_type,
            display_in_profile_summary: params.display_in_profile_summary ?? false,
            required: params.required ?? false,
            editable_by_user: params.editable_by_user ?? true,
          },
          params.field_data,
          fields,
        );
        const made = await work.one(sql.type(z.object({ id: z.number() }))`
          INSERT INTO users.profile_field (realm_id, name, hint, type, field_data, position, display_in_profile_summary, required, editable_by_user)
          VALUES (${work.realmId}, ${field.name}, ${field.hint}, ${field.type}, ${field.field_data}, ${Math.max(0, ...fields.map((other) => other.order)) + 1},
            ${field.display_in_profile_summary}, ${field.required}, ${field.editable_by_user}) RETURNING id`);
        await requireRoom(
          work,
          totals.profileFields,
          sql.fragment`users.profile_field WHERE realm_id = ${work.realmId}`,
        );
        return made;
      }),
    ),

    handleWrite(profileFieldOperations.updateProfileField, (context, { field_id, ...params }) =>
      changeFields(context, async (work, fields) => {
        const before = find(fields, field_id);
        requireChangeable(before, params);
        const data = params.field_data ?? (before.field_data === '' ? undefined : JSON.parse(before.field_data));
        const after = checkedField(
          {
            name: params.name ?? before.name,
            hint: params.hint ?? before.hint,
            type: before.type,
            display_in_profile_summary: params.display_in_profile_summary ?? before.display_in_profile_summary,
            required: params.required ?? before.required,
            editable_by_user: params.editable_by_user ?? before.editable_by_user,
          },
          data,
          fields.filter((other) => other.id !== field_id),
        );
        await work.run(sql.unsafe`
          UPDATE users.profile_field SET name = ${after.name}, hint = ${after.hint}, field_data = ${after.field_data},
            display_in_profile_summary = ${after.display_in_profile_summary}, required = ${after.required}, editable_by_user = ${after.editable_by_user}
          WHERE id = ${field_id}`);
        const gone = keysOf(before).filter((key) => !keysOf(after).includes(key));
        if (gone.length > 0) await removeValues(work, field_id, gone);
        return {};
      }),
    ),

    handleWrite(profileFieldOperations.removeProfileField, (context, { field_id }) =>
      changeFields(context, async (work, fields) => {
        find(fields, field_id);
        await removeValues(work, field_id);
        await work.run(sql.unsafe`DELETE FROM users.profile_field WHERE id = ${field_id}`);
        return {};
      }),
    ),

    handleWrite(profileFieldOperations.reorderProfileFields, (context, { order }) =>
      changeFields(context, async (work, fields) => {
        // If `order` contains a field several times, its last position is used.
        const ordered = [...new Set(order.toReversed())].reverse();
        const known = fields.map(({ id }) => id);
        if (!isPermutation(ordered, known)) throw badRequest('Invalid order mapping.');
        await work.run(sql.unsafe`
          UPDATE users.profile_field f SET position = o.position FROM unnest(${sql.array(ordered, 'int4')}) WITH ORDINALITY o(id, position)
          WHERE f.id = o.id AND f.realm_id = ${work.realmId}`);
        return {};
      }),
    ),

    handleWrite(profileFieldOperations.updateOwnProfileData, (context, { data }) => own(context, data)),

    handleWrite(profileFieldOperations.removeOwnProfileData, (context, { data }) =>
      own(
        context,
        data.map((id) => ({ id, value: null })),
      ),
    ),
  ];
}

/** Keys of the options of a list. */
const keysOf = ({ type, field_data }: { type: number; field_data: string }): string[] =>
  type === profileFieldTypes.SELECT.id ? Object.keys(JSON.parse(field_data)) : [];

export const profileFieldsSnapshot: SnapshotPart = {
  types: ['custom_profile_fields'],
  read: async (executor, { realmId, capabilities }) => {
    const fields = await readFields(executor, realmId);
    return {
      custom_profile_fields: capabilities.pronouns_field_type_supported ? fields : withoutPronouns(fields),
      custom_profile_field_types: profileFieldTypes,
    };
  },
  spectators: { custom_profile_fields: [], custom_profile_field_types: profileFieldTypes },
};
