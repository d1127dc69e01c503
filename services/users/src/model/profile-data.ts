import {
  badRequest,
  type PersonChange,
  type ProfileData,
  type ProfileEntry,
  type ProfileField,
  roles,
} from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import type { Holder } from '@natter/permissions';
import type { Author, Renderer } from '@natter/renderer';
import { z } from 'zod';
import { emitPerson } from './announce-account.ts';
import { checkedValue, isMarkdown, mayBeMarkdown } from './checked-value.ts';
import { holdFields } from './field-row.ts';
import { hiddenFrom } from './user-visibility.ts';

const valueRow = z.object({
  user_id: z.number(),
  field_id: z.number(),
  value: z.string(),
  rendered_value: z.string().nullable(),
});

/** Values of these users, or of all in the realm, by user; users without values are absent. */
export async function readProfileData(
  executor: Executor,
  realmId: number,
  userIds?: readonly number[],
): Promise<Map<number, ProfileData>> {
  const only = userIds ? sql.fragment`AND v.user_id = ANY(${sql.array([...userIds], 'int4')})` : sql.fragment``;
  const rows = await executor.any(sql.type(valueRow)`
    SELECT v.user_id, v.field_id, v.value, v.rendered_value FROM users.profile_value v
    JOIN users.profile_field f ON f.id = v.field_id WHERE f.realm_id = ${realmId} ${only}`);
  const byUser = new Map<number, ProfileData>();
  for (const { user_id, field_id, value, rendered_value } of rows) {
    const data = byUser.get(user_id) ?? {};
    data[field_id] = rendered_value === null ? { value } : { value, rendered_value };
    byUser.set(user_id, data);
  }
  return byUser;
}

/** Values to store, and the HTML of Markdown values: rendering may wait, so it happens before the transaction. */
export interface NewValues {
  entries: readonly ProfileEntry[];
  htmls: ReadonlyMap<string, string>;
}

export const renderedValues = async (
  renderer: Renderer,
  author: Author,
  given: readonly ProfileEntry[],
): Promise<NewValues> => {
  // The last value of a field counts, because every change is announced to all users.
  const entries = [...new Map(given.map((entry) => [entry.id, entry])).values()];
  return { entries, htmls: await renderer.renderTexts(author, [...new Set(entries.flatMap(mayBeMarkdown))]) };
};

/** Changes values of a user's custom profile fields; only administrators change fields that users may not edit. */
export async function changeProfileData(
  work: Work,
  holder: Holder,
  userId: number,
  { entries, htmls }: NewValues,
): Promise<void> {
  if (entries.length === 0) return;
  const fields = new Map((await holdFields(work, 'shared')).map((field) => [field.id, field]));
  const people = await peopleNamed(work, holder, entries);
  const known = (await readProfileData(work, work.realmId, [userId])).get(userId) ?? {};
  for (const { id, value } of entries) {
    const field = fields.get(id);
    if (!field) throw badRequest(`Field id ${id} not found.`);
    if (!field.editable_by_user && holder.role > roles.administrator)
      throw badRequest('You are not allowed to change this field. Contact an administrator to update it.');
    const checked = checkedValue(field, value, (person) => people.has(person));
    if (checked === (known[id]?.value ?? '')) continue;
    if (checked === '') await removeValue(work, userId, id);
    else await storeValue(work, userId, { field, value: checked, html: htmlOf(field, checked, htmls) });
  }
}

function htmlOf(field: ProfileField, value: string, htmls: NewValues['htmls']): string | undefined {
  if (!isMarkdown(field)) return undefined;
  const html = htmls.get(value);
  if (html === undefined) throw new Error('A value was not rendered before its transaction');
  return html;
}

async function storeValue(
  work: Work,
  userId: number,
  { field, value, html: rendered }: { field: ProfileField; value: string; html: string | undefined },
): Promise<void> {
  await work.run(sql.unsafe`
    INSERT INTO users.profile_value (field_id, user_id, value, rendered_value) VALUES (${field.id}, ${userId}, ${value}, ${rendered ?? null})
    ON CONFLICT (field_id, user_id) DO UPDATE SET value = excluded.value, rendered_value = excluded.rendered_value`);
  emitValue(work, userId, { id: field.id, value, ...(rendered === undefined ? {} : { rendered_value: rendered }) });
}

type ValueChange = NonNullable<PersonChange['custom_profile_field']>;

async function removeValue(work: Work, userId: number, fieldId: number): Promise<void> {
  await work.run(sql.unsafe`DELETE FROM users.profile_value WHERE field_id = ${fieldId} AND user_id = ${userId}`);
  emitValue(work, userId, { id: fieldId, value: null });
}

/**
 * Removes matching values of a field from all users, of whom there may be more than a unit may announce. Clients drop the
 * values when they receive the list of the fields without the field or the option.
 */
export async function removeValues(work: Work, fieldId: number, values?: readonly string[]): Promise<void> {
  const only = values ? sql.fragment`AND value = ANY(${sql.array([...values], 'text')})` : sql.fragment``;
  await work.run(sql.unsafe`DELETE FROM users.profile_value WHERE field_id = ${fieldId} ${only}`);
}

function emitValue(work: Work, user_id: number, custom_profile_field: ValueChange): void {
  emitPerson(work, { user_id, custom_profile_field });
}

/** Users that the values may refer to: active, no bots, and not hidden from the user who writes the values. */
async function peopleNamed(work: Work, holder: Holder, entries: readonly ProfileEntry[]): Promise<Set<number>> {
  const ids = entries.flatMap(({ value }) => (JSON.stringify(value).match(/\d{1,9}/g) ?? []).map(Number));
  const rows = await work.any(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND is_active AND NOT is_bot AND id = ANY(${sql.array(ids, 'int4')})`);
  const hidden = await hiddenFrom(work, work.realmId, holder);
  return new Set(rows.map((row) => row.id).filter((id) => !hidden.has(id)));
}
