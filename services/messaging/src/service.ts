import {
  type CommonConfig,
  createFileStore,
  createRealmPolicies,
  createSight,
  openOwner,
  type Process,
  type Running,
} from '@natter/service-kit';
import { contactHandlers } from './acquaintance.ts';
import { deleteMessageHandlers } from './changing/delete-message.ts';
import { historyHandlers } from './changing/message-history.ts';
import { readReceiptHandlers } from './changing/read-receipts.ts';
import { createRenderContent } from './changing/render-content.ts';
import { submessageHandlers } from './changing/submessages.ts';
import { updateMessageHandlers } from './changing/update-message.ts';
import { createChannelCache } from './channel-cache.ts';
import { createChannelReach } from './channel-reach.ts';
import { draftHandlers } from './drafts/drafts.ts';
import { flagHandlers } from './flags/update-flags.ts';
import { createMessageReach } from './message-reach.ts';
import { namedTopicsHandlers } from './named-topics.ts';
import { noticesConsumer } from './notices/notices-consumer.ts';
import { catchUpWithNotices } from './notices/settled-notices.ts';
import { testWelcomeHandlers } from './notices/test-welcome.ts';
import { peopleConsumer } from './people.ts';
import { personalSettingsConsumer } from './personal-settings-consumer.ts';
import { reactionHandlers } from './reactions/reactions.ts';
import { realmEmojiConsumer } from './reactions/realm-emoji.ts';
import { getMessagesHandlers } from './reading/get-messages.ts';
import { newestMessageHandlers } from './reading/newest-message.ts';
import { periodsConsumer } from './reading/periods-consumer.ts';
import { topicHandlers } from './reading/topics.ts';
import { reportHandlers } from './reports/report-message.ts';
import { createAuthors } from './scheduling/authors.ts';
import { createDecideSend } from './scheduling/decide-send.ts';
import { reminderHandlers } from './scheduling/reminders.ts';
import { scheduledMessageHandlers } from './scheduling/scheduled-messages.ts';
import { hintScheduler } from './scheduling/scheduler-hint.ts';
import { sendHandlers } from './send-message.ts';
import { sendingCopiesConsumer } from './sending/copies-consumer.ts';
import { snapshotHandlers } from './snapshot.ts';
import { mutedTopicsConsumer, userTopicHandlers } from './topics/user-topics.ts';
import { typingHandlers } from './typing/typing.ts';
import { referencesConsumer } from './uploads/references.ts';
import { uploadHandlers } from './uploads/uploads.ts';

/** Messages, and what hangs on them. */
export async function startMessaging(process: Process<CommonConfig>): Promise<Running> {
  const owner = openOwner(process, 'messaging');
  peopleConsumer(owner);
  periodsConsumer(owner);
  sendingCopiesConsumer(owner);
  personalSettingsConsumer(owner);
  realmEmojiConsumer(owner);
  referencesConsumer(owner);
  mutedTopicsConsumer(owner);
  const channels = createChannelCache(process.bus);
  const reach = createChannelReach(channels, owner.database);
  const messages = createMessageReach(reach);
  const policies = createRealmPolicies(process.bus);
  const sight = createSight(process.bus);
  const sending = { database: owner.database, renderer: owner.renderer, channels, policies, sight };
  const decideSend = createDecideSend(sending);
  const authors = createAuthors(process.bus);
  const hint = hintScheduler(process.bus);
  const reading = { reach, messages, policies, sight };
  const files = createFileStore(owner.database, 'messaging', (error) =>
    process.log.warn({ err: error }, 'unfinished uploads not deleted'),
  );
  owner.renderer.start();
  const { NATTER_MAX_UPLOAD_MIB: maxMib, NATTER_UPLOAD_QUOTA_MIB: quotaMib } = process.config;
  noticesConsumer(owner, hint);
  process.bus.useCatchUp(catchUpWithNotices(owner, hint));
  await process.bus.serve('messaging', '1.0.0', [
    ...sendHandlers(owner, channels, policies, sight),
    ...testWelcomeHandlers(owner, sending, authors),
    ...userTopicHandlers(owner, reach),
    ...getMessagesHandlers(owner, reading),
    ...topicHandlers(owner, reading),
    ...newestMessageHandlers(owner),
    ...flagHandlers(owner, reading),
    ...draftHandlers(owner, reach),
    ...scheduledMessageHandlers(owner, decideSend, hint),
    ...reminderHandlers(owner, { authors, decideSend, reach: messages, hint }),
    ...reactionHandlers(owner, messages, { policies, sight }),
    ...submessageHandlers(owner, messages),
    ...reportHandlers(owner, { messages, policies, hint }),
    ...updateMessageHandlers(owner, {
      channels: reach,
      messages,
      policies,
      renderContent: createRenderContent(owner, policies, sight),
    }),
    ...historyHandlers(owner, messages, policies),
    ...deleteMessageHandlers(owner, { channels: reach, messages, policies }),
    ...readReceiptHandlers(owner, messages, policies),
    ...typingHandlers(owner, reach, messages, { policies, sight, log: process.log }),
    ...files.handlers,
    ...uploadHandlers(owner, files, reading, { maxMib, quotaMib }),
    ...namedTopicsHandlers(owner),
    ...contactHandlers(owner),
    ...snapshotHandlers(owner, process.log),
  ]);
  return {
    stop: async () => {
      files.stop();
      await owner.close();
    },
  };
}
