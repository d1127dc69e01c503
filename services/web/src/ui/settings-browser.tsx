import { useState } from 'react';
import { askPermission, currentPermission, type Permission } from './desktop-notifications.ts';
import { useTask } from './use-task.ts';

const states: Record<Permission, string> = {
  default: 'This browser does not show notifications yet.',
  granted: 'This browser shows notifications while a page of Natter is open.',
  denied: 'This browser blocks the notifications of this page. Its settings for this page permit them again.',
  unavailable:
    'This browser shows no notifications of this page. Most browsers need an address that begins with https.',
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
          Allow notifications in this browser
        </button>
      )}
    </div>
  );
}
