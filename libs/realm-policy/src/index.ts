/** Data of a realm that services read from the users service: permissions, settings, and the users whom a user may not see. */
export * from './realm-policy.ts';
export * from './user-visibility.ts';
