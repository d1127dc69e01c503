import { serverVersion } from '@natter/contracts';
import { openOwner, type Process, type Running } from '@natter/service-kit';
import { accountHandlers } from './accounts/index.ts';
import { createAttempts } from './authentication/attempts.ts';
import { authenticationHandlers } from './authentication/authentication.ts';
import { createGuesses } from './authentication/guesses.ts';
import { createKeySeal } from './authentication/key-seal.ts';
import { loginHandlers } from './authentication/login.ts';
import { operatorKeyHandlers } from './authentication/operator-keys.ts';
import { ownKeyHandlers } from './authentication/own-keys.ts';
import { startReseal } from './authentication/reseal.ts';
import { startBotRanks } from './bots/bot-rank.ts';
import { botHandlers, botsSnapshot } from './bots/bots.ts';
import { defaultChannelNamesConsumer } from './bots/default-channel-names.ts';
import { collectionHandlers, collectionSnapshots } from './collections/index.ts';
import type { UsersConfig } from './config.ts';
import { startFullMembers } from './groups/full-members.ts';
import { groupsSnapshot } from './groups/groups-snapshot.ts';
import { groupHandlers } from './groups/index.ts';
import { invitationHandlers } from './invitations/index.ts';
import { mailInvitation } from './invitations/invitation-mail.ts';
import { createMailer } from './mail/mailer.ts';
import { profileFieldHandlers, profileFieldsSnapshot } from './profile-fields/index.ts';
import { realmHandlers, realmSnapshots } from './realm/index.ts';
import { settingsHandlers, settingsSnapshots } from './settings/index.ts';
import { acquaintanceConsumer } from './sight/acquaintance-consumer.ts';
import { sightHandlers } from './sight/index.ts';
import { startLimits } from './sight/limit-guests.ts';
import { limitingSight } from './sight/limited-events.ts';
import { peopleSnapshot, snapshotHandlers } from './snapshot.ts';
import { socialHandlers, socialSnapshots } from './social/index.ts';

/** Accounts, credentials, roles, groups and the realm. */
export async function startUsers(process: Process<UsersConfig>): Promise<Running> {
  const secret = process.config.NATTER_BOT_KEY_SECRET || process.config.NATTER_POSTGRES_URL || '';
  const seal = createKeySeal(secret, process.config.NATTER_BOT_KEY_SECRET_PREVIOUS);
  const opened = openOwner(process, 'users', seal.fingerprint);
  const owner = { ...opened, unitOfWork: limitingSight(opened.unitOfWork) };
  const { bus, config, log } = process;
  acquaintanceConsumer(owner);
  defaultChannelNamesConsumer(owner);
  const mailer = createMailer({
    url: config.NATTER_SMTP_URL,
    from: config.NATTER_MAIL_FROM,
    limits: {
      person: config.NATTER_MAILS_PER_PERSON,
      address: config.NATTER_MAILS_PER_ADDRESS,
      realm: config.NATTER_MAILS_PER_REALM,
    },
    log,
  });
  const attempts = createAttempts(owner.redis);
  const guesses = createGuesses(attempts, config.NATTER_RATE_LIMIT_LOGIN);
  await bus.serve('users', serverVersion.replace(/-.*/, '.0').replace(/^(\d+\.\d+)\.0$/, '$1.0'), [
    ...realmHandlers(owner, bus, config),
    ...groupHandlers(owner, bus),
    ...profileFieldHandlers(owner),
    ...collectionHandlers(owner),
    ...invitationHandlers(owner, bus, config, seal, mailInvitation(owner.database, mailer)),
    ...authenticationHandlers(owner, guesses),
    ...loginHandlers(owner, seal, mailer, guesses),
    ...ownKeyHandlers(owner, seal),
    ...accountHandlers(owner, bus, config, seal, mailer),
    ...botHandlers(owner, seal),
    ...settingsHandlers(owner, { mailer, log, attempts, guesses }),
    ...socialHandlers(owner),
    ...sightHandlers(owner),
    ...operatorKeyHandlers(owner),
    ...snapshotHandlers(owner, [
      peopleSnapshot,
      groupsSnapshot,
      profileFieldsSnapshot,
      ...collectionSnapshots,
      ...settingsSnapshots,
      ...socialSnapshots,
      botsSnapshot(seal),
      ...realmSnapshots(config),
    ]),
  ]);
  const stopFullMembers = startFullMembers(owner, (error) => log.warn({ err: error }, 'full members not looked for'));
  const stopBotRanks = startBotRanks(owner, seal, (error) =>
    log.warn({ err: error }, 'bots not lowered to the role of their owners'),
  );
  const stopReseal = startReseal(owner, seal, log);
  const stopLimits = startLimits(owner, bus, (error) => log.warn({ err: error }, 'guests not limited yet'));
  return {
    stop: async () => {
      stopFullMembers();
      stopLimits();
      stopBotRanks();
      stopReseal();
      await mailer.close();
      await owner.close();
    },
  };
}
