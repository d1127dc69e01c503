/** What a service asks the users service about a realm: its permissions and settings, and which users a user may not see. */
export * from './realm-policy.ts';
export * from './user-visibility.ts';
