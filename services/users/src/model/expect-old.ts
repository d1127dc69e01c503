import { ChatError, type GroupSetting, type GroupSettingUpdate } from '@natter/contracts';
import { isSameSetting } from '@natter/permissions';

/** The change applies only if the stored value equals `old`, if that is given. */
export function expectOld(update: GroupSettingUpdate, stored: GroupSetting): void {
  if (update.old !== undefined && !isSameSetting(update.old, stored))
    throw new ChatError('EXPECTATION_MISMATCH', "'old' value does not match the expected value.");
}
