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
});
export type UsersConfig = z.output<typeof usersConfig>;
