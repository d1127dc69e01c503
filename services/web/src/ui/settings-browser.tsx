import { useState } from 'react';
import { t } from '../text/text.ts';
import { askPermission, currentPermission, type Permission } from './desktop-notifications.ts';
import { useTask } from './use-task.ts';

const states: Record<Permission, string> = {
  default: t('thisBrowserDoesNotShowNotificationsYet'),
  granted: t('thisBrowserShowsNotificationsWhileAPage'),
  denied: t('thisBrowserBlocksTheNotificationsOfThis'),
  unavailable: t('thisBrowserShowsNoNotificationsOfThis'),
};

/** The permission of this browser, which is asked only here. */
export function BrowserNotifications() {
  const [permission, setPermission] = useState(currentPermission);
  const task = useTask();
  return (
    <div className="panel settings-browser">
      <p role="status">{states[permission]}</p>
      {permission === 'default' && (
        <button
          type="button"
          className="primary"
          disabled={task.isBusy}
          onClick={() => void task.run(async () => setPermission(await askPermission()))}
        >
          {t('allowNotificationsInThisBrowser')}
        </button>
      )}
    </div>
  );
}
