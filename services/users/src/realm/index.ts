import type { Bus, Handlers, Owner } from '@natter/service-kit';
import type { UsersConfig } from '../model/config.ts';
import { checkSubdomainHandlers } from './check-subdomain.ts';
import { createRealmHandlers } from './create-realm.ts';
import { deactivateRealmHandlers } from './deactivate-realm.ts';
import { findRealmHandlers } from './find-realm.ts';
import { realmPolicyHandlers } from './get-realm-policy.ts';
import { serverSettingsHandlers } from './get-server-settings.ts';
import { domainHandlers } from './realm-domains.ts';
import { setRealmActiveHandlers } from './set-realm-active.ts';
import { setRealmUrlHandlers } from './set-realm-url.ts';
import { updateRealmHandlers } from './update-realm.ts';

export const realmHandlers = (owner: Owner, bus: Bus, config: UsersConfig): Handlers => [
  ...createRealmHandlers(owner),
  ...setRealmUrlHandlers(owner),
  ...findRealmHandlers(owner),
  ...serverSettingsHandlers(owner, config),
  ...realmPolicyHandlers(owner, config),
  ...updateRealmHandlers(owner, bus, config),
  ...deactivateRealmHandlers(),
  ...setRealmActiveHandlers(owner),
  ...checkSubdomainHandlers(),
  ...domainHandlers(owner),
];
