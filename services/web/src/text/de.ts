import { bots } from './de/bots.ts';
import { channels } from './de/channels.ts';
import { general } from './de/general.ts';
import { organization } from './de/organization.ts';
import { people } from './de/people.ts';
import { reading } from './de/reading.ts';
import { realm } from './de/realm.ts';
import { writing } from './de/writing.ts';

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
