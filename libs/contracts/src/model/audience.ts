import type { IdSet } from './id-set.ts';

/** The receivers of an event: all users of the realm, or the listed users. */
export type Audience = 'realm' | { users: IdSet; except?: IdSet };
