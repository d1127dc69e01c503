/**
 * Everything that the services, the gateway and the client share: operations, events, errors, limits. Imports only zod.
 * An operation declared here is routed, validated, documented and typed from this one place.
 */
export * from './actor.ts';
export type { Audience } from './audience.ts';
export * from './authorization.ts';
export * from './avatar.ts';
export { limitOf } from './bounded.ts';
export * from './channel-permissions.ts';
export * from './durable-consumers.ts';
export * from './error.ts';
export * from './event.ts';
export {
  type ChannelChange,
  type ChannelValue,
  channelChange,
  ownChange,
  type PlainChannelProperty,
} from './events/channels.ts';
export { type Appender, appenders } from './events/declare.ts';
export * from './events/index.ts';
export type { LoggedMessage, UnreadDetails } from './events/messages.ts';
export { type RealmData, type RealmProperty, type RealmValue, realmChange } from './events/organization.ts';
export * from './events/owners.ts';
export type { GroupChange, NewcomerNote, PersonChange } from './events/people.ts';
export { languageOf, settingChange } from './events/settings.ts';
export type { ChannelObject } from './events/shapes.ts';
export * from './id-set.ts';
export * from './limits.ts';
export * from './locks.ts';
export * from './operation.ts';
export * from './operations/index.ts';
export * from './param.ts';
export * from './permission-settings.ts';
export { differencesOf, type Projection } from './projection.ts';
export * from './projections.ts';
export * from './realm-policy.ts';
export * from './realm-settings.ts';
export * from './text.ts';
export * from './unknown-user.ts';
export * from './user-setting-params.ts';
export * from './user-settings.ts';
export { exampleOf } from './vocabulary/examples.ts';
export { describeFields, meaningOf, vocabularies } from './vocabulary/index.ts';
export * from './withheld.ts';
