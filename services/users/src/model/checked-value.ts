import { badRequest, type ProfileEntry, type ProfileField, profileFieldTypes } from '@natter/contracts';
import { isWebUrl } from './field-rules.ts';

const types = profileFieldTypes;
const shortText = 50;
const longText = 500;

/** The value to store, '' to remove it; refuses an invalid one. `isPerson`: an active user who is no bot. */
export function checkedValue(
  field: ProfileField,
  value: ProfileEntry['value'],
  isPerson: (id: number) => boolean,
): string {
  if (field.type === types.USER.id) return checkedPeople(field, value, isPerson);
  if (value === null) return '';
  if (typeof value !== 'string') throw badRequest(`${field.name} is not a string`);
  const text = value.trim();
  if (text === '') return '';
  if (field.type === types.DATE.id && !isDate(text)) throw badRequest(`${field.name} is not a date`);
  if (field.type === types.URL.id && !isWebUrl(text)) throw badRequest(`${field.name} is not a URL`);
  if (field.type === types.SELECT.id && !Object.hasOwn(JSON.parse(field.field_data), text))
    throw badRequest(`'${text}' is not a valid choice for '${field.name}'.`);
  const limit = field.type === types.LONG_TEXT.id ? longText : field.type === types.URL.id ? 2000 : shortText;
  if ([...text].length > limit) throw badRequest(`${field.name} is too long (limit: ${limit} characters)`);
  return text;
}

function checkedPeople(field: ProfileField, value: ProfileEntry['value'], isPerson: (id: number) => boolean): string {
  const ids = parsed(value);
  if (!Array.isArray(ids) || ids.some((id) => !Number.isInteger(id)))
    throw badRequest(`${field.name} is not a list of user IDs`);
  const wrong = ids.find((id) => !isPerson(id));
  if (wrong !== undefined) throw badRequest(`Invalid user ID ${wrong}`);
  return ids.length === 0 ? '' : JSON.stringify([...new Set(ids)]);
}

function parsed(value: ProfileEntry['value']): unknown {
  if (value === null || value === '') return [];
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Whether values of the field are Markdown. */
export const isMarkdown = (field: ProfileField): boolean =>
  field.type === types.SHORT_TEXT.id || field.type === types.LONG_TEXT.id;

/** The value as Markdown to render, in the form that `checkedValue` stores; longer text is refused there. */
export const mayBeMarkdown = ({ value }: ProfileEntry): string[] =>
  typeof value === 'string' && [...value.trim()].length <= longText ? [value.trim()] : [];
