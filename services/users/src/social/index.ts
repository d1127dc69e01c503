import type { Handlers, Owner } from '@natter/service-kit';
import type { SnapshotPart } from '../snapshot-part.ts';
import { alertWordHandlers, alertWordsSnapshot } from './alert-words.ts';
import { avatarHandlers } from './avatars.ts';
import { mutedUserHandlers, mutedUsersSnapshot } from './muted-users.ts';
import { userStatusHandlers, userStatusSnapshot } from './user-status.ts';

export const socialHandlers = (owner: Owner): Handlers => [
  ...alertWordHandlers(owner),
  ...mutedUserHandlers(owner),
  ...userStatusHandlers(owner),
  ...avatarHandlers(owner),
];

export const socialSnapshots: readonly SnapshotPart[] = [alertWordsSnapshot, mutedUsersSnapshot, userStatusSnapshot];
