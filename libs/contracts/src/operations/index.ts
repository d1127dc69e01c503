import type { Operation } from '../operation.ts';
import { botOperations } from './bots.ts';
import { channelTopicOperations } from './channel-topics.ts';
import { channelOperations } from './channels.ts';
import { collectionOperations } from './collections.ts';
import { draftOperations } from './drafts.ts';
import { eventQueueOperations } from './event-queue.ts';
import { exportOperations } from './exports.ts';
import { groupOperations } from './groups.ts';
import { invitationOperations } from './invitations.ts';
import { messageChangeOperations } from './message-changes.ts';
import { messageReadingOperations } from './message-reading.ts';
import { messagingOperations } from './messaging.ts';
import { presenceOperations } from './presence.ts';
import { profileFieldOperations } from './profile-fields.ts';
import { realmOperations } from './realm.ts';
import { scheduledMessageOperations } from './scheduled-messages.ts';
import { settingsOperations } from './settings.ts';
import { sightOperations } from './sight.ts';
import { socialOperations } from './social.ts';
import { topicOperations } from './topics.ts';
import { uploadOperations } from './uploads.ts';
import { userOperations } from './users.ts';

export * from './bots.ts';
export * from './channel-topics.ts';
export * from './channels.ts';
export * from './collections.ts';
export * from './drafts.ts';
export * from './event-queue.ts';
export * from './exports.ts';
export * from './groups.ts';
export * from './invitations.ts';
export * from './message-changes.ts';
export * from './message-reading.ts';
export * from './messaging.ts';
export * from './presence.ts';
export * from './profile-fields.ts';
export * from './realm.ts';
export * from './scheduled-messages.ts';
export * from './settings.ts';
export * from './sight.ts';
export * from './social.ts';
export * from './topics.ts';
export * from './uploads.ts';
export * from './users.ts';

/** Every operation by the name of its method in the client. */
export const operationsByName = {
  ...userOperations,
  ...settingsOperations,
  ...botOperations,
  ...socialOperations,
  ...sightOperations,
  ...realmOperations,
  ...exportOperations,
  ...groupOperations,
  ...profileFieldOperations,
  ...collectionOperations,
  ...invitationOperations,
  ...channelOperations,
  ...channelTopicOperations,
  ...messagingOperations,
  ...messageReadingOperations,
  ...topicOperations,
  ...draftOperations,
  ...scheduledMessageOperations,
  ...messageChangeOperations,
  ...uploadOperations,
  ...presenceOperations,
  ...eventQueueOperations,
};

export const operations = Object.values(operationsByName) as unknown as readonly Operation[];
