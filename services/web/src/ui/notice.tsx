import { t } from '../text/text.ts';
import { useDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';

/** An open dialog covers the page, and shows the notice itself. */
export function PageNotice() {
  return useDialog() ? null : <Notice />;
}

/** Shows the reason why the last action had no effect. */
export function Notice() {
  const session = useSession();
  const notice = useSelected((state) => state.notice);
  return (
    <div className="notice" role="alert">
      {notice !== undefined && (
        <p>
          {notice}
          <button type="button" onClick={() => session.dismissNotice()}>
            {t('close')}
          </button>
        </p>
      )}
    </div>
  );
}
