import { channelsProjections } from './channels.ts';
import { messagingProjections } from './messaging.ts';
import { presenceProjections } from './presence.ts';
import type { Projection } from './projection.ts';
import { usersProjections } from './users.ts';

export type { keptPersonalSettings, keptRealmSettings } from './messaging.ts';
export { differencesOf, type Projection } from './projection.ts';

export const projections: readonly Projection[] = [
  ...channelsProjections,
  ...messagingProjections,
  ...presenceProjections,
  ...usersProjections,
];
