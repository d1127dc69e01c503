import { useNavigate } from '@tanstack/react-router';
import { lazy, memo, type ReactNode, Suspense } from 'react';
import { loadPart } from '../browser/load-part.ts';
import { directPlace, type Message, type Place, placeOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import { t } from '../text/text.ts';
import { Avatar } from './avatar.tsx';
import { dateLanguage } from './dates.ts';
import { edit, endEdit, focusMessage, isElsewhere, useEditing } from './editing.ts';
import { takeBack } from './message-commands.ts';
import { MessageEditor } from './message-editor.tsx';
import { Toolbar } from './message-menu.tsx';
import { type Directory, personName, titleOf } from './names.ts';
import { PageLink } from './page-link.tsx';
import { Reactions } from './reactions.tsx';
import { Rendered } from './rendered.tsx';
import type { Row } from './rows.ts';
import { useDirectory, useDirectoryFor, useSelected, useSession } from './session-context.tsx';
import { StatusEmoji } from './status.tsx';
import { afterName, isStatusText, textAfterName } from './status-text.ts';

const WidgetBox = lazy(() => loadPart(() => import('./widget-box.tsx')));

const dayFormat = new Intl.DateTimeFormat(dateLanguage(), { dateStyle: 'full' });
const timeFormat = new Intl.DateTimeFormat(dateLanguage(), { timeStyle: 'short' });
const fullFormat = new Intl.DateTimeFormat(dateLanguage(), { dateStyle: 'full', timeStyle: 'medium' });

interface RowProps {
  row: Row;
  hasPlaces: boolean;
  /** The text with the words of a search marked. */
  match: string | undefined;
  /** Whether Tab reaches this message and its buttons. */
  isCurrent: boolean;
  isNear: boolean;
  onFocus: (id: number) => void;
}

/** Rows are created again for each change of any message; their content seldom changes. */
const isSame = (a: RowProps, b: RowProps): boolean =>
  a.row.message === b.row.message &&
  a.row.day?.getTime() === b.row.day?.getTime() &&
  a.row.isNewPlace === b.row.isNewPlace &&
  a.row.isNamed === b.row.isNamed &&
  a.hasPlaces === b.hasPlaces &&
  a.match === b.match &&
  a.isCurrent === b.isCurrent &&
  a.isNear === b.isNear;

export const MessageRow = memo(function MessageRow(props: RowProps) {
  const { row, hasPlaces, match, isCurrent, isNear, onFocus } = props;
  const message = row.message as Message;
  const model = useDirectory();
  const editing = useEditing();
  const place = placeOf(message, model.ownId);
  const change = changeOf(message);
  const sent = new Date(message.timestamp * 1_000);
  const time = fullFormat.format(sent);
  const name = message.sender_full_name || personName(model, message.sender_id);
  const isStatus = message.is_me_message && editing !== message.id;
  const text = <Text message={message} match={match} />;
  return (
    <article
      aria-label={
        message.flags.includes('starred') ? t('starredMessageOf', { name, time }) : t('messageOf', { name, time })
      }
      data-message={message.id}
      data-near={isNear}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => onFocus(message.id)}
    >
      <Day row={row} />
      {hasPlaces && row.isNewPlace && <PlaceLine place={place} />}
      <Body name={name} row={row} senderId={message.sender_id} ownId={model.ownId} status={isStatus ? text : undefined}>
        <PageLink to={place} near={message.id} className="time" tabIndex={isCurrent ? 0 : -1} title={time}>
          <time dateTime={sent.toISOString()}>{timeFormat.format(sent)}</time>
          {message.flags.includes('starred') && <span aria-hidden="true"> ★</span>}
          {change !== undefined && <span className="edited"> {change}</span>}
        </PageLink>
        {!isStatus && editing !== message.id && text}
        {editing === message.id && (
          <MessageEditor
            message={message}
            onClose={() => {
              const returns = !isElsewhere(message.id);
              endEdit(message.id);
              if (returns) focusMessage(message.id);
            }}
          />
        )}
        <Reactions message={message} />
        {editing !== message.id && (
          <Toolbar message={message} isReachable={isCurrent} onEdit={() => edit(message.id)} />
        )}
      </Body>
    </article>
  );
}, isSame);

const isSet = (time: number | null | undefined): boolean => time !== undefined && time !== null;

function changeOf({ last_edit_timestamp, last_moved_timestamp }: Message): string | undefined {
  if (isSet(last_edit_timestamp)) return t('edited');
  return isSet(last_moved_timestamp) ? t('moved') : undefined;
}

/** A poll or a list of tasks takes the place of the text that made it, once its code is loaded. */
function Text({ message, match }: { message: Message; match: string | undefined }) {
  const isAlerted = message.flags.includes('has_alert_word');
  const alertWords = useSelected(({ model }) => (isAlerted ? model.alertWords : noWords));
  const html = match ?? message.content;
  const shown = message.is_me_message ? afterName(html) : html;
  const text = <Rendered html={shown} messageId={message.id} alertWords={alertWords} />;
  if (message.submessages.length === 0) return text;
  return (
    <Suspense fallback={text}>
      <WidgetBox message={message}>{text}</WidgetBox>
    </Suspense>
  );
}

const noWords: readonly string[] = [];

/** Leads to the conversation of the messages below it. */
export function PlaceLine({ place }: { place: Place }) {
  const model = useDirectoryFor(place);
  return (
    <PageLink to={place} className="place" style={{ borderColor: colorOf(model, place) }}>
      {titleOf(model, place)}
    </PageLink>
  );
}

const colorOf = (model: Directory, place: Place): string =>
  place.kind === 'topic' ? (model.channels.get(place.channelId)?.color ?? '') : '';

export function Day({ row }: { row: Row }) {
  return row.day ? (
    <h2 className="day">
      <span>{dayFormat.format(row.day)}</span>
    </h2>
  ) : null;
}

interface BodyProps {
  name: string;
  row: Row;
  senderId: number;
  ownId: number;
  /** The text, if it goes on after the name. */
  status: ReactNode;
  children: ReactNode;
}

function Body({ name, row, senderId, ownId, status, children }: BodyProps) {
  const place = directPlace([senderId], ownId);
  const sender = (
    <PageLink to={place} className="sender" title={t('writeTo', { name })}>
      {name}
      <StatusEmoji userId={senderId} />
    </PageLink>
  );
  return (
    <div className="message" data-named={row.isNamed} data-status={status !== undefined}>
      {row.isNamed && <Avatar userId={senderId} name={name} />}
      {row.isNamed && status === undefined && sender}
      {status !== undefined && (
        <div className="status-line">
          {sender} {status}
        </div>
      )}
      {children}
    </div>
  );
}

/** A message on its way: the text of its sender, until the message arrives from the server. */
export function OutgoingRow({ row, outgoing }: { row: Row; outgoing: Outgoing }) {
  const session = useSession();
  const navigate = useNavigate();
  const model = useDirectory();
  const { problem, content } = outgoing;
  const isStatus = isStatusText(content);
  const text = (
    <div className="content unsent" dir="auto">
      {isStatus ? textAfterName(content) : content}
    </div>
  );
  return (
    <article
      aria-label={problem === undefined ? t('yourMessageBeingSent') : t('yourMessageNotSent')}
      data-outgoing={outgoing.id}
    >
      <Day row={row} />
      <Body
        name={personName(model, model.ownId)}
        row={row}
        senderId={model.ownId}
        ownId={model.ownId}
        status={isStatus ? text : undefined}
      >
        <span className="state">{problem === undefined ? t('sending') : ''}</span>
        {!isStatus && text}
        {problem !== undefined && (
          <div className="problem" role="alert">
            <span>{t('notSent', { problem })}</span>
            <button type="button" onClick={() => session.retry(outgoing)}>
              {t('sendAgain')}
            </button>
            <button type="button" onClick={() => takeBack(session, navigate, outgoing)}>
              {t('edit')}
            </button>
            <button type="button" onClick={() => session.discard(outgoing)}>
              {t('discard')}
            </button>
          </div>
        )}
      </Body>
    </article>
  );
}
