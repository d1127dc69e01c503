/**
 * Everything that the services, the gateway and the client share: operations, events, errors, limits. Imports only zod.
 * An operation declared here is routed, validated, documented and typed from this one place.
 */

export {
  type ChannelChange,
  type ChannelValue,
  channelChange,
  ownChange,
  type PlainChannelProperty,
} from './events/channels.ts';
export { type Appender, appenders } from './events/declare.ts';
export * from './events/durable-consumers.ts';
export * from './events/event.ts';
export { exampleOfEvent } from './events/event-example.ts';
export * from './events/index.ts';
export type { LoggedMessage, UnreadDetails } from './events/messages.ts';
export { type RealmData, type RealmProperty, type RealmValue, realmChange } from './events/organization.ts';
export * from './events/owners.ts';
export type { GroupChange, NewcomerNote, PersonChange } from './events/people.ts';
export * from './events/projections/index.ts';
export { languageOf, settingChange } from './events/settings.ts';
export type { ChannelObject } from './events/shapes.ts';
export * from './model/actor.ts';
export type { Audience } from './model/audience.ts';
export * from './model/authorization.ts';
export * from './model/avatar.ts';
export { limitOf, maxId } from './model/bounded.ts';
export * from './model/channel-name.ts';
export * from './model/default-icon.ts';
export * from './model/error.ts';
export { errorCauses } from './model/error-causes.ts';
export * from './model/id-set.ts';
export * from './model/json-excess.ts';
export * from './model/keys.ts';
export * from './model/limits.ts';
export * from './model/locks.ts';
export * from './model/operation.ts';
export * from './model/param.ts';
export * from './model/permission-settings.ts';
export * from './model/realm-policy.ts';
export * from './model/realm-settings.ts';
export * from './model/text.ts';
export * from './model/unknown-user.ts';
export * from './model/user-settings.ts';
export * from './model/web-address.ts';
export * from './model/withheld.ts';
export * from './operations/index.ts';
export * from './vocabulary/channel-permissions.ts';
export { capabilityNames } from './vocabulary/events.ts';
export { exampleOf } from './vocabulary/examples.ts';
export { describeFields, isDeprecated, meaningOf, vocabularies } from './vocabulary/index.ts';
export { exampleOfSchema } from './vocabulary/schema-examples.ts';
export * from './vocabulary/user-setting-params.ts';
