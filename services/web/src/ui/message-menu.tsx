import * as Menu from '@radix-ui/react-dropdown-menu';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { serverNow } from '../session/server-time.ts';
import { mayDelete, mayMoveOut, mayMoveWithin } from '../state/permissions.ts';
import { type Message, placeOf } from '../state/place.ts';
import { hasReadReceipts } from '../state/realm.ts';
import { hasHistory, mayEdit } from '../state/rules.ts';
import { t } from '../text/text.ts';
import { copy } from './clipboard.ts';
import { thumbsUp } from './emoji.tsx';
import { permalink } from './links.ts';
import { forward, markUnreadFrom, quote, react, reply } from './message-commands.ts';
import { type Dialog, openDialog } from './open-dialog.ts';
import { useSelected, useSession } from './session-context.tsx';

interface ToolbarProps {
  message: Message;
  /** Whether Tab reaches the buttons: only those of the current message. */
  isReachable: boolean;
  onEdit: () => void;
}

/** The actions on a message; visible while the pointer or the focus is on it. */
export function Toolbar({ message, isReachable, onEdit }: ToolbarProps) {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  const tabIndex = isReachable ? 0 : -1;
  const isStarred = message.flags.includes('starred');
  return (
    <div className="tools" data-open={isOpen}>
      <button
        type="button"
        tabIndex={tabIndex}
        title={t('reactWithThumbsUp')}
        onClick={() => void session.actions.toggleReaction(message, thumbsUp, session.state.model.ownId)}
      >
        <span className="glyph" aria-hidden="true">
          👍
        </span>
        <span className="hidden">{t('reactWithThumbsUp')}</span>
      </button>
      <button
        type="button"
        tabIndex={tabIndex}
        title={t('reactWithAnotherEmoji')}
        onClick={() => react(session, message.id)}
      >
        <span aria-hidden="true">☺</span>
        <span className="hidden">{t('reactWithAnotherEmoji')}</span>
      </button>
      <button
        type="button"
        tabIndex={tabIndex}
        aria-pressed={isStarred}
        title={isStarred ? t('removeTheStar') : t('star')}
        onClick={() => void session.actions.toggleStar(message)}
      >
        <span aria-hidden="true">{isStarred ? '★' : '☆'}</span>
        <span className="hidden">{t('star')}</span>
      </button>
      <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
        <Menu.Trigger tabIndex={tabIndex} title={t('moreActions')}>
          <span aria-hidden="true">⋮</span>
          <span className="hidden">{t('moreActions')}</span>
        </Menu.Trigger>
        {isOpen && <Actions message={message} onEdit={onEdit} />}
      </Menu.Root>
    </div>
  );
}

function Actions({ message, onEdit }: Omit<ToolbarProps, 'isReachable'>) {
  const model = useSelected((state) => state.model);
  const session = useSession();
  const navigate = useNavigate();
  const place = placeOf(message, model.ownId);
  const now = serverNow(session.state);
  // The action sets the focus, which does not go back to the button.
  const [keepsFocus, setKeepsFocus] = useState(true);
  const elsewhere = (act: () => void) => (): void => {
    setKeepsFocus(false);
    // The menu gives up the focus before the action takes it.
    setTimeout(act);
  };
  const ask = (dialog: Dialog) => elsewhere(() => openDialog(dialog));
  return (
    <Menu.Portal>
      <Menu.Content
        className="menu"
        align="end"
        sideOffset={4}
        collisionPadding={8}
        onCloseAutoFocus={(event) => !keepsFocus && event.preventDefault()}
      >
        <Item onSelect={elsewhere(() => reply(session, navigate, message))} keys="r">
          {t('reply')}
        </Item>
        <Item onSelect={elsewhere(() => void quote(session, navigate, message))} keys=">">
          {t('quoteAndReply')}
        </Item>
        <Item onSelect={elsewhere(() => void forward(session, message))}>{t('forward')}</Item>
        {mayEdit(model, message, now) && (
          <Item onSelect={elsewhere(onEdit)} keys="e">
            {t('edit')}
          </Item>
        )}
        {place.kind === 'topic' && (mayMoveWithin(model, place) || mayMoveOut(model, place)) && (
          <Item onSelect={ask({ name: 'move', place, messageId: message.id })} keys="m">
            {t('moveMenu')}
          </Item>
        )}
        <Menu.Separator className="menu-line" />
        <Item onSelect={() => void copy(permalink(model, place, message.id))}>{t('copyLink')}</Item>
        <Item onSelect={() => void markUnreadFrom(session, message)} keys="U">
          {t('markAsUnreadFromHere')}
        </Item>
        <Details message={message} ask={ask} />
        <Item onSelect={ask({ name: 'person', userId: message.sender_id })} keys="u">
          {t('aboutTheSenderMenu')}
        </Item>
        <Item onSelect={ask({ name: 'remind', messageId: message.id })}>{t('remindMenu')}</Item>
        {mayDelete(model, message, now) && (
          <>
            <Menu.Separator className="menu-line" />
            <Item onSelect={ask({ name: 'delete', messageId: message.id })}>{t('deleteMenu')}</Item>
          </>
        )}
      </Menu.Content>
    </Menu.Portal>
  );
}

interface DetailsProps {
  message: Message;
  /** Returns a function that opens a dialog. */
  ask: (dialog: Dialog) => () => void;
}

/** Menu items for the edit history and the readers of a message. */
function Details({ message, ask }: DetailsProps) {
  const model = useSelected((state) => state.model);
  return (
    <>
      {hasHistory(model, message) && (
        <Item onSelect={ask({ name: 'history', messageId: message.id })} keys="H">
          {t('editsAndMovesMenu')}
        </Item>
      )}
      {hasReadReceipts(model) && (
        <Item onSelect={ask({ name: 'readers', messageId: message.id })} keys="V">
          {t('seenByMenu')}
        </Item>
      )}
    </>
  );
}

function Item({ onSelect, keys, children }: { onSelect: () => void; keys?: string; children: ReactNode }) {
  return (
    <Menu.Item className="menu-item" onSelect={onSelect}>
      <span className="label">{children}</span>
      {keys !== undefined && <kbd>{keys}</kbd>}
    </Menu.Item>
  );
}
