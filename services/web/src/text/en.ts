import { bots } from './en/bots.ts';
import { channels } from './en/channels.ts';
import { general } from './en/general.ts';
import { organization } from './en/organization.ts';
import { people } from './en/people.ts';
import { reading } from './en/reading.ts';
import { realm } from './en/realm.ts';
import { writing } from './en/writing.ts';

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
