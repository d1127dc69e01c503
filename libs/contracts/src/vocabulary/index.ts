import { channelMeanings } from './channels.ts';
import { eventMeanings } from './events.ts';
import { messageMeanings } from './messages.ts';
import { organizationMeanings } from './organization.ts';
import { peopleMeanings } from './people.ts';

export { realmPermissionMeanings } from './permissions.ts';
export { realmSettingMeanings } from './realm-settings.ts';

/**
 * Descriptions of fields by their names. A name is listed if it means the same in every operation and event. The schema of a
 * field describes it otherwise (`.describe`), and takes precedence.
 */
export const vocabularies: readonly Readonly<Record<string, string>>[] = [
  messageMeanings,
  channelMeanings,
  peopleMeanings,
  organizationMeanings,
  eventMeanings,
];
const meanings: ReadonlyMap<string, string> = new Map(vocabularies.flatMap(Object.entries));

export const meaningOf = (name: string): string | undefined => meanings.get(name);

interface Schema {
  description?: unknown;
  deprecated?: boolean;
  properties?: Record<string, unknown>;
  [keyword: string]: unknown;
}

/** Whether a description says that new clients should not use what it describes. */
export const isDeprecated = (text: unknown): boolean => typeof text === 'string' && /\bdeprecated\b/i.test(text);

/** Describes the fields of a JSON Schema that have no description of their own, at every depth, and marks deprecated ones. */
export function describeFields(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties = {}, items, additionalProperties, ...rest } = schema as Schema;
  for (const [name, field] of Object.entries(properties as Record<string, Schema>)) {
    const meaning = field.description ?? meaningOf(name);
    if (meaning !== undefined) field.description = meaning;
    if (isDeprecated(meaning)) field.deprecated = true;
    describeFields(field);
  }
  for (const one of [items, additionalProperties]) describeFields(one);
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    for (const one of (rest[keyword] ?? []) as unknown[]) describeFields(one);
}
