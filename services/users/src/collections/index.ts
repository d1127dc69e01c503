import type { Handlers, Owner } from '@natter/service-kit';
import type { SnapshotPart } from '../snapshot-part.ts';
import { botStorageHandlers } from './bot-storage.ts';
import { clientDeviceHandlers, clientDevicesSnapshot } from './client-devices.ts';
import { navigationViewHandlers, navigationViewsSnapshot } from './navigation-views.ts';
import { onboardingStepHandlers, onboardingStepsSnapshot } from './onboarding-steps.ts';
import { pushDeviceHandlers, pushDevicesSnapshot } from './push-devices.ts';
import { savedSnippetHandlers, savedSnippetsSnapshot } from './saved-snippets.ts';

export const collectionHandlers = (owner: Owner): Handlers => [
  ...navigationViewHandlers(owner),
  ...savedSnippetHandlers(owner),
  ...botStorageHandlers(owner),
  ...onboardingStepHandlers(owner),
  ...pushDeviceHandlers(owner),
  ...clientDeviceHandlers(owner),
];

export const collectionSnapshots: readonly SnapshotPart[] = [
  navigationViewsSnapshot,
  savedSnippetsSnapshot,
  onboardingStepsSnapshot,
  pushDevicesSnapshot,
  clientDevicesSnapshot,
];
