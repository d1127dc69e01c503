import { bots } from './ja/bots.ts';
import { channels } from './ja/channels.ts';
import { general } from './ja/general.ts';
import { organization } from './ja/organization.ts';
import { people } from './ja/people.ts';
import { reading } from './ja/reading.ts';
import { realm } from './ja/realm.ts';
import { writing } from './ja/writing.ts';

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
