import { t } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import { closeDialog } from './open-dialog.ts';

const groups: readonly { title: string; keys: readonly (readonly [keys: string, meaning: string])[] }[] = [
  {
    title: t('goTo'),
    keys: [
      [t('keyControlK'), t('anyConversationPersonOrView')],
      ['/', t('search')],
      ['n', t('nextUnreadConversation')],
      ['p', t('nextUnreadDirectMessages')],
      ['I', t('inbox')],
      ['t', t('recentConversations')],
      ['a', t('combinedFeed')],
      ['@', t('mentions')],
      ['*', t('starredMessages')],
    ],
  },
  {
    title: t('messages'),
    keys: [
      [t('keyOrDown'), t('nextMessage')],
      [t('keyOrUp'), t('previousMessage')],
      [t('keyGOrEnd'), t('newestMessage')],
      [t('keyROrEnter'), t('reply')],
      ['>', t('quoteAndReply')],
      ['e', t('editIfItIsYours')],
      ['+', t('reactWithThumbsUp')],
      [':', t('reactWithAnotherEmoji')],
      ['s', t('starOrRemoveTheStar')],
      ['u', t('aboutTheSender')],
      ['m', t('moveIfYouMay')],
      ['H', t('editsAndMovesIfThereAreAny')],
      ['V', t('whoHasReadIt')],
      ['U', t('markAsUnreadFromHere')],
    ],
  },
  {
    title: t('writing'),
    keys: [
      [t('keyControlEnter'), t('send')],
      [t('keyEnter'), t('sendIfYouChoseSo')],
      [t('keyShiftEnter'), t('newLine')],
      [t('keyEscape'), t('leaveTheComposeBox')],
      ['c', t('goToTheComposeBox')],
      ['?', t('theseShortcuts')],
    ],
  },
];

export default function ShortcutsDialog() {
  return (
    <Dialog title={t('keyboardShortcuts')}>
      {groups.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl className="shortcuts">
            {keys.map(([key, meaning]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className="buttons">
        <button type="button" onClick={closeDialog}>
          {t('close')}
        </button>
      </div>
    </Dialog>
  );
}
