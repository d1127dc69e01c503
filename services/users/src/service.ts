import type { Database } from '@natter/database';
import {
  type Bus,
  type Handlers,
  type Logger,
  type Owner,
  openOwner,
  type Process,
  type Running,
  type Stop,
} from '@natter/service-kit';
import { alertWordHandlers, alertWordsSnapshot } from './alert-words/alert-words.ts';
import { ownKeyHandlers } from './authentication/api-keys.ts';
import { authenticationHandlers } from './authentication/authentication.ts';
import { devFetchApiKeyHandlers } from './authentication/dev-fetch-api-key.ts';
import { fetchApiKeyHandlers } from './authentication/fetch-api-key.ts';
import { fetchApiKeyByJwtHandlers } from './authentication/fetch-api-key-by-jwt.ts';
import { operatorKeyHandlers } from './authentication/issue-api-key.ts';
import { loginHandlers } from './authentication/login.ts';
import { logoutHandlers } from './authentication/logout.ts';
import { startReseal } from './authentication/reseal.ts';
import { revokeApiKeysHandlers } from './authentication/revoke-api-keys.ts';
import { setJwtKeyHandlers } from './authentication/set-jwt-key.ts';
import { avatarHandlers } from './avatars/avatars.ts';
import { startBotRanks } from './bots/bot-ranks.ts';
import { botStorageHandlers } from './bots/bot-storage.ts';
import { botHandlers, botsSnapshot } from './bots/bots.ts';
import { defaultChannelNamesConsumer } from './bots/default-channel-names.ts';
import { outgoingWebhookHandlers } from './bots/outgoing-webhook.ts';
import { callHandlers } from './calls/calls.ts';
import { exportHandlers } from './exports/exports.ts';
import { invitationHandlers } from './invitations/index.ts';
import { startInvitationSweep } from './invitations/invitation-sweep.ts';
import { joinHandlers } from './join/join.ts';
import { linkifierHandlers } from './linkifiers/linkifiers.ts';
import { acquaintanceConsumer } from './model/acquaintance-consumer.ts';
import { createFindActor, type FindActor, refreshedActor } from './model/actors.ts';
import type { UsersConfig } from './model/config.ts';
import { createAttempts } from './model/credentials/attempts.ts';
import { createGuesses, type Guesses } from './model/credentials/guesses.ts';
import { createKeySeal, type KeySeal } from './model/credentials/key-seal.ts';
import { startFullMembers } from './model/full-members.ts';
import { mailInvitation } from './model/invitation-mail.ts';
import { startLimits } from './model/limit-guests.ts';
import { limitAudiences } from './model/limited-events.ts';
import { countMailOutcomes } from './model/mail/mail-metrics.ts';
import { createMailer, type Mailer } from './model/mail/mailer.ts';
import { permitsOf } from './model/permits.ts';
import { mutedUserHandlers, mutedUsersSnapshot } from './muted-users/muted-users.ts';
import { navigationViewHandlers, navigationViewsSnapshot } from './navigation-views/navigation-views.ts';
import { onboardingStepHandlers, onboardingStepsSnapshot } from './onboarding-steps/onboarding-steps.ts';
import { createResetLinkHandlers } from './password-reset/create-reset-link.ts';
import { createPasswordRequests } from './password-reset/password-requests.ts';
import { passwordResetHandlers } from './password-reset/password-reset.ts';
import { playgroundHandlers } from './playgrounds/playgrounds.ts';
import { profileFieldHandlers, profileFieldsSnapshot } from './profile-fields/profile-fields.ts';
import { clientDeviceHandlers, clientDevicesSnapshot } from './push-devices/client-devices.ts';
import { pushDeviceHandlers, pushDevicesSnapshot } from './push-devices/push-devices.ts';
import { archivedChannelsConsumer } from './realm/archived-channels.ts';
import { realmHandlers } from './realm/index.ts';
import { realmSnapshot } from './realm/realm-snapshot.ts';
import { uploadEmojiHandlers } from './realm-emoji/add-realm-emoji.ts';
import { emojiDataHandlers } from './realm-emoji/emoji-data.ts';
import { emojiPictureHandlers } from './realm-emoji/emoji-picture.ts';
import { emojiHandlers } from './realm-emoji/realm-emoji.ts';
import { pictureHandlers } from './realm-pictures/default-picture.ts';
import { realmPictureHandlers } from './realm-pictures/realm-pictures.ts';
import { realmCollectionSnapshots } from './register/realm-collections.ts';
import { peopleSnapshot, snapshotHandlers } from './register/snapshot-users.ts';
import { savedSnippetHandlers, savedSnippetsSnapshot } from './saved-snippets/saved-snippets.ts';
import { settingsHandlers } from './settings/index.ts';
import { settingsSnapshots } from './settings/settings-snapshot.ts';
import { groupHandlers } from './user-groups/index.ts';
import { groupsSnapshot } from './user-groups/user-groups-snapshot.ts';
import { userStatusHandlers, userStatusSnapshot } from './user-status/user-status.ts';
import { userVisibilityHandlers } from './users/get-sight.ts';
import { accountHandlers } from './users/index.ts';

/** Owns accounts, credentials, roles, groups and the realm. */
export async function startUsers(process: Process<UsersConfig>): Promise<Running> {
  const secret = process.config.NATTER_BOT_KEY_SECRET || process.config.NATTER_POSTGRES_URL || '';
  const seal = createKeySeal(secret, process.config.NATTER_BOT_KEY_SECRET_PREVIOUS);
  const mailer = mailerOf(process, seal);
  const owner = openOwner(process, 'users', {
    fingerprint: seal.fingerprint,
    wrapUnits: (unitOfWork) => mailer.wrapUnits(limitAudiences(unitOfWork)),
  });
  const { bus, config, log } = process;
  const find = readOwnData(bus, owner.database);
  const acquaintance = acquaintanceConsumer(owner);
  for (const start of [defaultChannelNamesConsumer, archivedChannelsConsumer]) start(owner);
  const attempts = createAttempts(owner.redis);
  const guesses = createGuesses(attempts, config.NATTER_RATE_LIMIT_LOGIN);
  const sendInvitation = mailInvitation(mailer);
  const tools = { mailer, log, attempts, guesses };
  const passwordRequests = createPasswordRequests(owner, tools);
  await bus.serve('users', [
    ...realmHandlers(owner, bus, config),
    ...realmPictureHandlers(owner),
    ...pictureHandlers(),
    ...emojiHandlers(owner),
    ...uploadEmojiHandlers(),
    ...emojiPictureHandlers(owner),
    ...emojiDataHandlers(),
    ...linkifierHandlers(owner),
    ...playgroundHandlers(),
    ...exportHandlers(owner),
    ...callHandlers(),
    ...groupHandlers(owner, bus),
    ...profileFieldHandlers(owner),
    ...ownDataHandlers(owner, bus),
    ...botStorageHandlers(owner),
    ...invitationHandlers(owner, { bus, config, seal, send: sendInvitation }),
    ...joinHandlers(owner, seal, sendInvitation),
    ...credentialHandlers(owner, { find, seal, mailer, guesses, config, log }),
    ...accountHandlers(owner, { bus, config, seal, mailer }),
    ...userVisibilityHandlers(owner, acquaintance),
    ...botHandlers(owner, bus, seal),
    ...outgoingWebhookHandlers(owner),
    ...settingsHandlers(owner, tools),
    ...passwordResetHandlers(owner, tools, passwordRequests),
    ...createResetLinkHandlers(owner),
    ...userStatusHandlers(owner),
    ...avatarHandlers(owner),
    ...snapshotHandlers(owner, sectionsOf(seal, config)),
  ]);
  const stopJobs = startJobs(owner, seal, process);
  mailer.start(owner.database);
  passwordRequests.start();
  return {
    stop: () => owner.close(mailer.close, passwordRequests.stop, ...stopJobs),
  };
}

/** Collections of a user that nobody else sees. */
const ownDataHandlers = (owner: Owner, bus: Bus): Handlers => [
  ...alertWordHandlers(owner),
  ...clientDeviceHandlers(),
  ...mutedUserHandlers(bus),
  ...navigationViewHandlers(owner),
  ...onboardingStepHandlers(),
  ...pushDeviceHandlers(owner),
  ...savedSnippetHandlers(owner),
];

/** Permissions and actors are data of this service: its requests read them without a call. */
function readOwnData(bus: Bus, database: Database): FindActor {
  const find = createFindActor(database);
  bus.usePermits(permitsOf(database));
  bus.useActors(({ userId, keyId }, { realmId }) => refreshedActor(find, { realmId, userId, keyId }));
  return find;
}

interface CredentialTools {
  find: FindActor;
  seal: KeySeal;
  mailer: Mailer;
  guesses: Guesses;
  config: UsersConfig;
  log: Logger;
}

const credentialHandlers = (owner: Owner, tools: CredentialTools): Handlers => {
  const { find, seal, mailer, guesses, config, log } = tools;
  return [
    ...authenticationHandlers(owner, { find, guesses, config, log }),
    ...fetchApiKeyHandlers(owner, seal, mailer, guesses),
    ...loginHandlers(owner, { seal, mailer, guesses, config }),
    ...logoutHandlers(),
    ...fetchApiKeyByJwtHandlers(owner, seal, mailer),
    ...setJwtKeyHandlers(owner, seal),
    ...devFetchApiKeyHandlers(),
    ...ownKeyHandlers(owner, seal),
    ...operatorKeyHandlers(owner),
    ...revokeApiKeysHandlers(owner),
  ];
};

const mailerOf = ({ config, log, metrics }: Process<UsersConfig>, seal: KeySeal): Mailer =>
  createMailer({
    seal,
    url: config.NATTER_SMTP_URL,
    from: config.NATTER_MAIL_FROM,
    limits: {
      person: config.NATTER_MAILS_PER_PERSON,
      address: config.NATTER_MAILS_PER_ADDRESS,
      realm: config.NATTER_MAILS_PER_REALM,
    },
    log,
    onOutcome: countMailOutcomes(metrics),
  });

/** The sections of a register that this service answers. */
const sectionsOf = (seal: KeySeal, config: UsersConfig) => [
  peopleSnapshot,
  groupsSnapshot,
  profileFieldsSnapshot,
  navigationViewsSnapshot,
  savedSnippetsSnapshot,
  onboardingStepsSnapshot,
  pushDevicesSnapshot,
  clientDevicesSnapshot,
  ...settingsSnapshots,
  alertWordsSnapshot,
  mutedUsersSnapshot,
  userStatusSnapshot,
  botsSnapshot(seal),
  realmSnapshot(config),
  ...realmCollectionSnapshots,
];

/** Starts work that does not belong to a request. Returns functions that stop it. */
function startJobs(owner: Owner, seal: KeySeal, { bus, log }: Process<UsersConfig>): Stop[] {
  const stopFullMembers = startFullMembers(owner, (error, realm) =>
    log.warn({ err: error, realm }, 'search for new full members failed'),
  );
  const stopBotRanks = startBotRanks(owner, (error, realm) =>
    log.warn({ err: error, realm }, 'lowering bots to the role of their owners failed'),
  );
  const stopSweep = startInvitationSweep(owner.database, (error) =>
    log.warn({ err: error }, 'deleting ended invitations failed; it will be retried'),
  );
  const stopReseal = startReseal(owner, seal, log);
  const stopLimits = startLimits(owner, bus, (error, realm) =>
    log.warn({ err: error, realm }, 'limiting the guests of a realm failed; it will be retried'),
  );
  return [stopFullMembers, stopLimits, stopBotRanks, stopReseal, stopSweep];
}
