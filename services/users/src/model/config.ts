import { commonConfig, durationSetting } from '@natter/service-kit';
import { z } from 'zod';

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

export const usersConfig = commonConfig.extend({
  WEB_PUBLIC_STREAMS_ENABLED: flag.prefault('true').describe('Whether realms may have web-public channels'),
  INVITATION_LINK_VALIDITY_MINUTES: durationSetting('minutes')
    .min(1)
    .default(14_400)
    .describe('Default validity of an invitation'),
  NATTER_RATE_LIMIT_LOGIN: z.coerce
    .number()
    .int()
    .min(1)
    .default(5)
    .describe('Wrong passwords for an account from one network before further attempts have to wait, longer each time'),
  NATTER_SESSION_IDLE_SECONDS: durationSetting('seconds')
    .min(300)
    .default(14 * 86_400)
    .describe('How long the session of a browser lasts without a request'),
  NATTER_SESSION_MAX_SECONDS: durationSetting('seconds')
    .min(300)
    .default(90 * 86_400)
    .describe('How long the session of a browser lasts at most'),
  NATTER_SMTP_URL: z
    .string()
    .optional()
    .describe(
      'Mail server, with credentials (smtp://user:password@host:587); without one no mail is sent, and only `npm start` shows mails, in its terminal',
    ),
  NATTER_MAIL_FROM: z.string().default('Natter <noreply@localhost>').describe('Sender of mails'),
  NATTER_MAILS_PER_PERSON: z.coerce.number().int().min(1).default(200).describe('Mails per day and user, of each kind'),
  NATTER_MAILS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe(
      'Mails a day to one address, of each kind: invitations, links to join, addresses to confirm, logins, changes of an address, deactivations, links to set a password',
    ),
  NATTER_MAILS_PER_REALM: z.coerce
    .number()
    .int()
    .min(1)
    .default(2_000)
    .describe(
      'Mails per day and organization, of each kind; one network without an account causes at most a tenth of them',
    ),
  NATTER_BOT_KEY_SECRET: z
    .string()
    .optional()
    .describe('Secret that encrypts API keys of bots and invitation links; by default the password of the database'),
  NATTER_BOT_KEY_SECRET_PREVIOUS: z
    .string()
    .optional()
    .describe(
      'The other secret while NATTER_BOT_KEY_SECRET is rotated, the next or the previous one: values encrypted with it are decrypted, and encrypted again when the service starts',
    ),
});
export type UsersConfig = z.output<typeof usersConfig>;
