import { Link } from '@tanstack/react-router';
import { memo, type ReactNode, useLayoutEffect, useRef } from 'react';
import { directPlace, type Message, placeOf } from '../state/place.ts';
import type { Outgoing } from '../state/state.ts';
import { contentOf } from './content.ts';
import { linkTo } from './links.ts';
import { personName, titleOf } from './names.ts';
import type { Row } from './rows.ts';
import { useSelected, useSession } from './session-context.tsx';

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });
const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

interface RowProps {
  row: Row;
  hasPlaces: boolean;
}

export const MessageRow = memo(function MessageRow({ row, hasPlaces }: RowProps) {
  const message = row.message as Message;
  const model = useSelected((state) => state.model);
  const place = placeOf(message, model.ownId);
  const sent = new Date(message.timestamp * 1_000);
  const name = message.sender_full_name || personName(model, message.sender_id);
  return (
    <article aria-label={`${name}, ${fullFormat.format(sent)}`} data-message={message.id}>
      <Day row={row} />
      {hasPlaces && row.isNewPlace && (
        <Link {...linkTo(place)} className="place" style={{ borderColor: colorOf(model, place) }}>
          {titleOf(model, place)}
        </Link>
      )}
      <Body name={name} row={row} senderId={message.sender_id} ownId={model.ownId}>
        <time dateTime={sent.toISOString()} title={fullFormat.format(sent)}>
          {timeFormat.format(sent)}
        </time>
        <Content html={message.content} />
      </Body>
    </article>
  );
});

const colorOf = (model: Parameters<typeof titleOf>[0], place: ReturnType<typeof placeOf>): string =>
  place.kind === 'topic' ? (model.channels.get(place.channelId)?.color ?? '') : '';

function Day({ row }: { row: Row }) {
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
  children: ReactNode;
}

function Body({ name, row, senderId, ownId, children }: BodyProps) {
  const place = directPlace([senderId], ownId);
  return (
    <div className="message" data-named={row.isNamed}>
      {row.isNamed && (
        <>
          <span className="avatar" aria-hidden="true" data-hue={senderId % 6}>
            {initialsOf(name)}
          </span>
          <Link {...linkTo(place)} className="sender" title={`Write to ${name}`}>
            {name}
          </Link>
        </>
      )}
      {children}
    </div>
  );
}

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((part) => [...part][0] ?? '')
    .join('')
    .toUpperCase();

/** The text as the server rendered it. */
function Content({ html }: { html: string }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.replaceChildren(contentOf(html)), [html]);
  return <div className="content" dir="auto" ref={box} />;
}

/** A message on its way: what its sender wrote, until the server shows it. */
export function OutgoingRow({ row, outgoing }: { row: Row; outgoing: Outgoing }) {
  const session = useSession();
  const model = useSelected((state) => state.model);
  const { problem, content } = outgoing;
  return (
    <article
      aria-label={`Your message, ${problem === undefined ? 'being sent' : 'not sent'}`}
      data-outgoing={outgoing.id}
    >
      <Day row={row} />
      <Body name={personName(model, model.ownId)} row={row} senderId={model.ownId} ownId={model.ownId}>
        <span className="state">{problem === undefined ? 'Sending…' : ''}</span>
        <div className="content plain" dir="auto">
          {content}
        </div>
        {problem !== undefined && (
          <div className="problem" role="alert">
            <span>Not sent: {problem}</span>
            <button type="button" onClick={() => session.retry(outgoing)}>
              Send again
            </button>
            <button type="button" onClick={() => session.discard(outgoing)}>
              Discard
            </button>
          </div>
        )}
      </Body>
    </article>
  );
}
