/**
 * Everything the services, the gateway and the client agree on: operations, events, errors, limits.
 * Imports only zod. An operation that is declared here is routed, validated, documented and typed from this one place.
 */
export * from './actor.ts';
export * from './avatar.ts';
export { limitOf } from './bounded.ts';
export * from './error.ts';
export * from './event.ts';
export * from './events/index.ts';
export * from './events/owners.ts';
export * from './id-set.ts';
export * from './limits.ts';
export * from './operation.ts';
export * from './operations/index.ts';
export * from './param.ts';
export * from './permission-settings.ts';
export * from './realm-policy.ts';
export * from './realm-settings.ts';
export * from './unknown-user.ts';
export * from './user-settings.ts';
