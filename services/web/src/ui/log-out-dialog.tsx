import { t } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { useLogOut } from './log-out.ts';
import { closeDialog } from './open-dialog.ts';

/** Asks before a logout that loses texts. */
export default function LogOutDialog({ isEverywhere }: { isEverywhere: boolean }) {
  return (
    <Dialog title={t('logOutNow')}>
      <p>{t('someOfWhatYouWroteIsLost')}</p>
      <form method="post" action="/accounts/logout" onSubmit={useLogOut()} className="buttons">
        {isEverywhere && <input type="hidden" name="everywhere" value="true" />}
        <button type="submit" className="danger">
          {t(isEverywhere ? 'logOutEverywhere' : 'logOut')}
        </button>
        <button type="button" onClick={closeDialog}>
          {t('cancel')}
        </button>
      </form>
    </Dialog>
  );
}
