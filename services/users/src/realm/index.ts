import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { UsersConfig } from '../config.ts';
import type { SnapshotPart } from '../snapshot-part.ts';
import { callHandlers } from './calls.ts';
import { realmCollectionSnapshots } from './collections-snapshot.ts';
import { createRealmHandlers } from './create-realm.ts';
import { deactivateRealmHandlers } from './deactivate-realm.ts';
import { domainHandlers } from './domains.ts';
import { emojiHandlers } from './emoji.ts';
import { exportHandlers } from './exports.ts';
import { linkifierHandlers } from './linkifiers.ts';
import { pictureHandlers } from './pictures.ts';
import { playgroundHandlers } from './playgrounds.ts';
import { realmPictureHandlers } from './realm-pictures.ts';
import { realmPolicyHandlers } from './realm-policy.ts';
import { realmSnapshot } from './realm-snapshot.ts';
import { serverSettingsHandlers } from './server-settings.ts';
import { updateRealmHandlers } from './update-realm.ts';
import { uploadEmojiHandlers } from './upload-emoji.ts';

export const realmHandlers = (owner: Owner, bus: Bus, config: UsersConfig): Handlers => [
  ...createRealmHandlers(owner),
  ...serverSettingsHandlers(owner, config),
  ...realmPolicyHandlers(owner, config),
  ...updateRealmHandlers(owner, bus, config),
  ...deactivateRealmHandlers(owner),
  ...domainHandlers(owner),
  ...emojiHandlers(owner),
  ...linkifierHandlers(owner),
  ...playgroundHandlers(owner),
  ...exportHandlers(owner),
  ...callHandlers(),
  ...pictureHandlers(),
  ...realmPictureHandlers(owner),
  ...uploadEmojiHandlers(owner),
];

export const realmSnapshots = (config: UsersConfig): readonly SnapshotPart[] => [
  realmSnapshot(config),
  ...realmCollectionSnapshots,
];
