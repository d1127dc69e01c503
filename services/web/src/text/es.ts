import { bots } from './es/bots.ts';
import { channels } from './es/channels.ts';
import { general } from './es/general.ts';
import { organization } from './es/organization.ts';
import { people } from './es/people.ts';
import { reading } from './es/reading.ts';
import { realm } from './es/realm.ts';
import { writing } from './es/writing.ts';

export const texts = {
  ...general,
  ...reading,
  ...writing,
  ...people,
  ...channels,
  ...organization,
  ...bots,
  ...realm,
} as const;
