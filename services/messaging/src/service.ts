import { createRealmPolicies, createUserVisibility } from '@natter/realm-policy';
import { type Owner, openOwner, type Process, type Running } from '@natter/service-kit';
import { uploadHandlers } from './attachments/attachments.ts';
import { createFileStore } from './attachments/file-store.ts';
import { resumableUploadHandlers, sweepResumableUploads } from './attachments/resumable-uploads.ts';
import { draftHandlers } from './drafts/drafts.ts';
import { externalContentHandlers } from './external-content/external-content.ts';
import { startPreviewWorker } from './link-previews/preview-worker.ts';
import { flagHandlers } from './message-flags/message-flags.ts';
import { deleteMessageHandlers } from './messages/delete-message.ts';
import { deleteTopicHandlers } from './messages/delete-topic.ts';
import { newestMessageHandlers } from './messages/get-max-message-id.ts';
import { historyHandlers } from './messages/get-message-history.ts';
import { getMessagesHandlers } from './messages/get-messages.ts';
import { summaryHandlers } from './messages/get-messages-summary.ts';
import { readReceiptHandlers } from './messages/get-read-receipts.ts';
import { contactHandlers } from './messages/list-direct-contacts.ts';
import { matchNarrowHandlers } from './messages/match-narrow.ts';
import { renderMessageHandlers } from './messages/render-message.ts';
import { reportHandlers } from './messages/report-message.ts';
import { sendHandlers } from './messages/send-message.ts';
import { updateMessageHandlers } from './messages/update-message.ts';
import { createAuthors } from './model/authors.ts';
import { createChannelAccess } from './model/channel-access.ts';
import { createChannelCache } from './model/channel-cache.ts';
import type { MessagingConfig } from './model/config.ts';
import { requireSpace, spaceTaken } from './model/files/attachment-row.ts';
import { referencesConsumer } from './model/files/references.ts';
import { createMessageAccess } from './model/message-access.ts';
import { outgoingWebhooksConsumer } from './model/outgoing-webhooks-consumer.ts';
import { peopleConsumer } from './model/people.ts';
import { personalSettingsConsumer } from './model/personal-settings-consumer.ts';
import { periodsConsumer } from './model/reading/periods-consumer.ts';
import { realmEmojiConsumer } from './model/realm-emoji.ts';
import { hintScheduler } from './model/scheduler-hint.ts';
import { createDecideSend } from './model/sending/decide-planned.ts';
import { sendingProjectionsConsumer } from './model/sending/projections-consumer.ts';
import { createRenderContent } from './model/sending/render-content.ts';
import { withWaking } from './model/wait-for-consumers.ts';
import { reactionHandlers } from './reactions/reactions.ts';
import { snapshotHandlers } from './register/snapshot-messaging.ts';
import { reminderHandlers } from './reminders/reminders.ts';
import { scheduledMessageHandlers } from './scheduled-messages/scheduled-messages.ts';
import { submessageHandlers } from './submessages/submessages.ts';
import { noticesConsumer } from './system-messages/notices-consumer.ts';
import { catchUpWithNotices } from './system-messages/settled-notices.ts';
import { testWelcomeHandlers } from './system-messages/test-welcome-message.ts';
import { topicHandlers } from './topics/get-topics.ts';
import { namedTopicsHandlers } from './topics/has-named-topics.ts';
import { updateMutedTopicHandlers } from './topics/update-muted-topic.ts';
import { mutedTopicsConsumer, userTopicHandlers } from './topics/user-topics.ts';
import { typingHandlers } from './typing/typing.ts';

/** Owns messages and their dependent data. */
export async function startMessaging(process: Process<MessagingConfig>): Promise<Running> {
  const owner = withWaking(openOwner(process, 'messaging'));
  const hint = hintScheduler(process.bus);
  startConsumers(owner, hint);
  const channels = createChannelCache(process.bus);
  const access = createChannelAccess(channels, owner.database);
  const messages = createMessageAccess(access);
  const policies = createRealmPolicies(process.bus);
  const userVisibility = createUserVisibility(process.bus);
  const authors = createAuthors(process.bus);
  const reading = { access, messages, policies, userVisibility };
  const sending = { ...reading, database: owner.database, renderer: owner.renderer, channels, authors };
  const decideSend = createDecideSend(sending);
  const renderContent = createRenderContent({ ...owner, access }, policies, userVisibility);
  const { NATTER_MAX_UPLOAD_MIB: maxMib, NATTER_UPLOAD_QUOTA_MIB: quotaMib } = process.config;
  const onSweepError = (error: unknown) => process.log.warn({ err: error }, 'deleting unfinished uploads failed');
  const files = createFileStore(owner.database, {
    onError: onSweepError,
    requireRoom: async (realmId, size) => {
      const taken = [spaceTaken(owner.database, realmId), files.unkeptBytes(owner.database, realmId)];
      requireSpace(
        (await Promise.all(taken)).reduce((sum, bytes) => sum + bytes, size),
        quotaMib,
      );
    },
  });
  const uploadSweep = sweepResumableUploads(owner.database, files, onSweepError);
  owner.renderer.start();
  process.bus.useCatchUp(catchUpWithNotices(owner, hint));
  await process.bus.serve('messaging', [
    ...sendHandlers(owner, sending, hint),
    ...renderMessageHandlers(owner, reading),
    ...testWelcomeHandlers(owner, decideSend, authors),
    ...userTopicHandlers(access),
    ...updateMutedTopicHandlers(owner),
    ...externalContentHandlers(owner, process.config),
    ...getMessagesHandlers(owner, reading),
    ...summaryHandlers(),
    ...matchNarrowHandlers(owner, reading),
    ...topicHandlers(owner, reading),
    ...newestMessageHandlers(owner),
    ...flagHandlers(owner, reading),
    ...draftHandlers({ database: owner.database, access, policies, userVisibility }),
    ...scheduledMessageHandlers(owner, decideSend, hint),
    ...reminderHandlers(owner, { authors, decideSend, access: messages, policies, userVisibility, hint }),
    ...reactionHandlers(owner, messages, { policies, userVisibility }),
    ...submessageHandlers(owner, messages),
    ...reportHandlers(owner, { channels, messages, policies, hint }),
    ...updateMessageHandlers(owner, { channels: access, messages, policies, renderContent }),
    ...historyHandlers(owner, messages, policies),
    ...deleteMessageHandlers(owner, { channels: access, messages, policies }),
    ...deleteTopicHandlers(owner, { channels: access, messages, policies }),
    ...readReceiptHandlers(owner, messages, policies),
    ...typingHandlers(owner, access, messages, { policies, userVisibility, log: process.log }),
    ...files.handlers,
    ...uploadHandlers(owner, files, reading, { maxMib, quotaMib }),
    ...resumableUploadHandlers(owner, files, uploadSweep, { maxMib, quotaMib }),
    ...namedTopicsHandlers(owner),
    ...contactHandlers(owner),
    ...snapshotHandlers(owner, process.log),
  ]);
  const previews = startPreviewWorker({ ...owner, channels, policies }, process);
  return {
    stop: () => owner.close(previews.stop, files.stop, uploadSweep.stop),
  };
}

function startConsumers(owner: Owner, hint: (dueSeconds: number) => void): void {
  peopleConsumer(owner);
  periodsConsumer(owner);
  sendingProjectionsConsumer(owner);
  outgoingWebhooksConsumer(owner);
  personalSettingsConsumer(owner);
  realmEmojiConsumer(owner);
  referencesConsumer(owner);
  mutedTopicsConsumer(owner);
  noticesConsumer(owner, hint);
}
