import {
  attachmentSchema,
  draftSchema,
  messageObject,
  navigationViewSchema,
  profileFieldSchema,
  reminderSchema,
  savedSnippetSchema,
  scheduledMessageSchema,
  userGroupSchema,
  userSchema,
} from '@natter/contracts';
import { resultSchema } from './open-api-schema.ts';

type Json = Record<string, unknown>;

/** Schemas that several answers share. Client generators turn each into a type of this name. */
const schemas = {
  Attachment: attachmentSchema,
  CustomProfileField: profileFieldSchema,
  Draft: draftSchema,
  Message: messageObject,
  NavigationView: navigationViewSchema,
  Reminder: reminderSchema,
  SavedSnippet: savedSnippetSchema,
  ScheduledMessage: scheduledMessageSchema,
  User: userSchema,
  UserGroup: userGroupSchema,
};

const isObject = (schema: Json): boolean => 'properties' in schema || 'oneOf' in schema || 'anyOf' in schema;

export interface NamedSchemas {
  /** The named schemas, as components of the document. */
  components: Json;
  /** The same value, with a reference in place of each named schema. */
  refer(value: unknown): unknown;
}

export function namedSchemas(): NamedSchemas {
  const components = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, resultSchema(schema)]));
  // A schema may be described otherwise in each place where it stands.
  const names = new Map(
    Object.entries(components).map(([name, { description: _, ...schema }]) => [JSON.stringify(schema), name]),
  );
  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (typeof value !== 'object' || value === null) return value;
    const { description, ...schema } = value as Json;
    const name = isObject(schema) ? names.get(JSON.stringify(schema)) : undefined;
    if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, refer(part)]));
    return { $ref: `#/components/schemas/${name}`, ...(description === undefined ? {} : { description }) };
  };
  return { components, refer };
}
