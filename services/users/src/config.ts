import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

export const usersConfig = commonConfig.extend({
  WEB_PUBLIC_STREAMS_ENABLED: flag.prefault('true').describe('Whether realms may open channels to spectators'),
  INVITATION_LINK_VALIDITY_MINUTES: z.coerce
    .number()
    .int()
    .min(1)
    .default(14_400)
    .describe('How long an invitation is valid unless it says otherwise'),
  NATTER_RATE_LIMIT_LOGIN: z.coerce
    .number()
    .int()
    .min(1)
    .default(5)
    .describe('Wrong passwords for an account from one network before each next attempt has to wait, longer each time'),
  NATTER_SMTP_URL: z
    .string()
    .optional()
    .describe(
      'Mail server, with credentials (smtp://user:password@host:587); without one no mail is sent, and only `npm start` shows mails, in its terminal',
    ),
  NATTER_MAIL_FROM: z.string().default('Natter <noreply@localhost>').describe('Who mails are from'),
  NATTER_MAILS_PER_PERSON: z.coerce
    .number()
    .int()
    .min(1)
    .default(200)
    .describe('Mails a day that one person may cause, of each kind'),
  NATTER_MAILS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe(
      'Mails a day to one address, of each kind: invitations, links to join, addresses to confirm, logins, changes of an address, deactivations',
    ),
  NATTER_MAILS_PER_REALM: z.coerce
    .number()
    .int()
    .min(1)
    .default(2_000)
    .describe('Mails a day of an organization, of each kind'),
  NATTER_BOT_KEY_SECRET: z
    .string()
    .optional()
    .describe('What API keys of bots and invitation links are sealed with; none takes the password of the database'),
  NATTER_BOT_KEY_SECRET_PREVIOUS: z
    .string()
    .optional()
    .describe('The secret before it: what it sealed is opened, and sealed anew when the service starts'),
});
export type UsersConfig = z.output<typeof usersConfig>;
