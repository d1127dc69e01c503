import { channels } from './channels.ts';
import { general } from './general.ts';
import { organization } from './organization.ts';
import { people } from './people.ts';
import { reading } from './reading.ts';
import { writing } from './writing.ts';

export const texts = { ...general, ...reading, ...writing, ...people, ...channels, ...organization } as const;
