import { badRequest, externalAccounts, type ProfileField, profileFieldTypes } from '@natter/contracts';
import { z } from 'zod';

const { LONG_TEXT, SELECT, USER, EXTERNAL_ACCOUNT } = profileFieldTypes;
const maxName = 40;
const maxHint = 80;
const maxInSummary = 2;

/** A field without its position. */
export type FieldDefinition = Omit<ProfileField, 'id' | 'order'>;

/** The definition to store; refuses an invalid one. `others`: the other fields. */
export function checkedField(
  given: Omit<FieldDefinition, 'field_data'>,
  data: Record<string, unknown> | undefined,
  others: readonly ProfileField[],
): FieldDefinition {
  if (!Object.values(profileFieldTypes).some(({ id }) => id === given.type)) throw badRequest('Invalid field type.');
  const field_data = checkedFieldData(given.type, data);
  const known = knownAccount(given.type, data);
  const field = { ...given, field_data, ...(known ? { name: known.name, hint: known.hint } : {}) };
  if (field.name === '') throw badRequest('Label cannot be blank.');
  if ([...field.name].length > maxName) throw badRequest(`name is too long (limit: ${maxName} characters)`);
  if ([...field.hint].length > maxHint) throw badRequest(`hint is too long (limit: ${maxHint} characters)`);
  if (others.some((other) => other.name === field.name)) throw badRequest('A field with that label already exists.');
  if (field.display_in_profile_summary) checkSummary(field, others);
  return field;
}

/** The name, hint and data of an account of a known service follow from the service. */
export function requireChangeable(
  before: ProfileField,
  given: { name?: string | undefined; hint?: string | undefined; field_data?: Record<string, unknown> | undefined },
): void {
  if (before.field_data === '' || !knownAccount(before.type, JSON.parse(before.field_data))) return;
  const { name = before.name, hint = before.hint, field_data } = given;
  const isSame = field_data === undefined || JSON.stringify(field_data) === before.field_data;
  if (name !== before.name || hint !== before.hint || !isSame)
    throw badRequest('Default custom field cannot be updated.');
}

function checkSummary(field: FieldDefinition, others: readonly ProfileField[]): void {
  if (field.type === LONG_TEXT.id || field.type === USER.id)
    throw badRequest('Field type not supported for display in profile summary.');
  if (others.filter((other) => other.display_in_profile_summary).length >= maxInSummary)
    throw badRequest(`Only ${maxInSummary} custom profile fields can be displayed in the profile summary.`);
}

const options = z.record(z.string(), z.strictObject({ text: z.string(), order: z.string() }));
const account = z.strictObject({ subtype: z.string(), url_pattern: z.string().optional() });

function checkedFieldData(type: number, data: Record<string, unknown> | undefined): string {
  if (type === SELECT.id) return checkedOptions(data ?? {});
  if (type === EXTERNAL_ACCOUNT.id) return checkedAccount(data ?? {});
  return '';
}

function checkedOptions(data: Record<string, unknown>): string {
  const parsed = options.safeParse(data);
  if (!parsed.success) throw badRequest(`field_data is not a list of options: ${parsed.error.issues[0]?.message}`);
  const entries = Object.entries(parsed.data);
  if (entries.length === 0) throw badRequest('Field must have at least one choice.');
  if (entries.some(([key]) => key.trim() === '')) throw badRequest("'value' cannot be blank.");
  if (entries.some(([, { text }]) => text.trim() === '')) throw badRequest('"text" cannot be blank.');
  if (entries.some(([, { order }]) => !/^\d+$/.test(order))) throw badRequest('"order" is not a number.');
  if (new Set(entries.map(([, { text }]) => text.trim())).size < entries.length)
    throw badRequest('Field must not have duplicate choices.');
  return JSON.stringify(parsed.data);
}

function checkedAccount(data: Record<string, unknown>): string {
  const parsed = account.safeParse(data);
  if (!parsed.success) throw badRequest('field_data is not an external account');
  const { subtype, url_pattern } = parsed.data;
  if (subtype === 'custom') {
    if (url_pattern === undefined) throw badRequest('Custom external account must define URL pattern');
    if (url_pattern.split('%(username)s').length !== 2) throw badRequest('Malformed URL pattern.');
    if (!isWebUrl(url_pattern.replace('%(username)s', 'username'))) throw badRequest('Malformed URL pattern.');
    return JSON.stringify({ subtype, url_pattern });
  }
  if (!Object.hasOwn(externalAccounts, subtype)) throw badRequest('Invalid external account type');
  return JSON.stringify({ subtype });
}

const accounts: Readonly<Record<string, { name: string; hint: string }>> = externalAccounts;

function knownAccount(type: number, data: Record<string, unknown> | undefined) {
  const subtype = type === EXTERNAL_ACCOUNT.id ? String(data?.subtype) : '';
  return Object.hasOwn(accounts, subtype) ? accounts[subtype] : undefined;
}

export function isWebUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s]+$/i.test(text) || !URL.canParse(text)) return false;
  const { hostname } = new URL(text);
  return hostname === 'localhost' || hostname.includes('.') || hostname.includes(':');
}
