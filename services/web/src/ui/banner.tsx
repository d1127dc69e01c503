import { t } from '../text/text.ts';
import { useSelected } from './session-context.tsx';

const texts = {
  connected: '',
  reconnecting: t('reconnectingWhatYouWriteIsSentWhen'),
  unsent: t('connectedButWhatYouWroteWaits'),
  'caught up': t('connectedAgainEverythingIsUpToDate'),
};

/** Shows the state of the connection. It stays in the page, so that screen readers read changes. */
export function Banner() {
  const connection = useSelected((state) => state.connection);
  return (
    <div className="banner" role="status" data-connection={connection.replace(' ', '-')}>
      {texts[connection]}
    </div>
  );
}
