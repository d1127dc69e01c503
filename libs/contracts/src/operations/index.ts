import type { Operation } from '../model/operation.ts';
import { botOperations } from './bots.ts';
import { channelTopicOperations } from './channel-topics.ts';
import { channelOperations } from './channels.ts';
import { collectionOperations } from './collections.ts';
import { draftOperations } from './drafts.ts';
import { catchUpOperations, eventQueueOperations } from './event-queue.ts';
import { exportOperations } from './exports.ts';
import { groupOperations } from './groups.ts';
import { invitationOperations } from './invitations.ts';
import { jwtOperations } from './jwt.ts';
import { messageChangeOperations } from './message-changes.ts';
import { messageReadingOperations } from './message-reading.ts';
import { messagingOperations } from './messaging.ts';
import { presenceOperations } from './presence.ts';
import { profileFieldOperations } from './profile-fields.ts';
import { realmOperations } from './realm.ts';
import { scheduledMessageOperations } from './scheduled-messages.ts';
import { serverStatusOperations } from './server-status.ts';
import { settingsOperations } from './settings.ts';
import { socialOperations } from './social.ts';
import { topicOperations } from './topics.ts';
import { fileOperations, uploadOperations } from './uploads.ts';
import { userVisibilityOperations } from './user-visibility.ts';
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
export * from './jwt.ts';
export * from './message-changes.ts';
export { type MessageObject, messageObject } from './message-object.ts';
export * from './message-reading.ts';
export * from './messaging.ts';
export * from './presence.ts';
export * from './profile-fields.ts';
export * from './realm.ts';
export * from './scheduled-messages.ts';
export * from './server-status.ts';
export * from './settings.ts';
export * from './social.ts';
export * from './topics.ts';
export * from './uploads.ts';
export * from './user-visibility.ts';
export * from './users.ts';

/** Every operation by the name of its method in the client. */
export const operationsByName = {
  ...userOperations,
  ...jwtOperations,
  ...settingsOperations,
  ...botOperations,
  ...socialOperations,
  ...userVisibilityOperations,
  ...realmOperations,
  ...exportOperations,
  ...serverStatusOperations,
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

/** The compiler does not infer that operations with parameters of their own are of the type `Operation`. */
const operationsOf = (group: object): readonly Operation[] => Object.values(group);

export const operations = operationsOf(operationsByName);

/** The topics of the API documents, each with its operations. */
export const tags: readonly { name: string; description: string; operations: ReadonlySet<Operation> }[] = [
  tag('Messages', 'Send, read, search, change and flag messages; reactions.', [
    ...[messagingOperations, messageReadingOperations, messageChangeOperations],
  ]),
  tag('Drafts', 'Texts that are not sent yet, on all devices of a user.', [draftOperations]),
  tag('Scheduled messages', 'Messages and reminders that are sent later.', [scheduledMessageOperations]),
  tag('Topics', 'Topics of channels, and what a user follows or mutes.', [channelTopicOperations, topicOperations]),
  tag('Channels', 'Channels, subscriptions, folders and their permissions.', [channelOperations]),
  tag('People', 'Users, their profiles, their status, and who sees whom.', [
    ...[userOperations, jwtOperations, socialOperations, userVisibilityOperations, profileFieldOperations],
  ]),
  tag('Groups', 'Groups of users, and their permissions.', [groupOperations]),
  tag('Bots', 'Bots, their keys, their settings and their storage.', [botOperations]),
  tag('Presence', 'Who is online.', [presenceOperations]),
  tag('Events', 'Queues that deliver every change to a client.', [eventQueueOperations]),
  tag('Settings', 'Preferences and collections of the caller.', [settingsOperations, collectionOperations]),
  tag('Files', 'Uploaded files.', [uploadOperations]),
  tag('Organization', 'Settings of the organization, invitations, exports and the state of the server.', [
    ...[realmOperations, invitationOperations, exportOperations, serverStatusOperations],
  ]),
];

function tag(name: string, description: string, groups: readonly object[]) {
  return { name, description, operations: new Set(groups.flatMap(operationsOf)) };
}

/** All operations, including those that several services serve under one name. */
export const servedOperations: readonly Operation[] = [
  ...operations,
  ...operationsOf(catchUpOperations),
  ...Object.values(fileOperations).flatMap(operationsOf),
];
