import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isFirstToNotify } from '../browser/notified.ts';
import type { Session } from '../session/session.ts';
import { type Alert, alertOf } from '../state/alerts.ts';
import { keyOf, type Narrow } from '../state/place.ts';
import { linkTo } from './links.ts';
import { type Directory, titleOf } from './names.ts';
import { afterName } from './status-text.ts';

/** `unavailable` if the browser permits no notifications to pages that came unencrypted. */
export type Permission = NotificationPermission | 'unavailable';

const isAvailable = (): boolean => isSecureContext && 'Notification' in globalThis && 'locks' in navigator;

export const currentPermission = (): Permission => (isAvailable() ? Notification.permission : 'unavailable');

/** Browsers ask their user only after a click. */
export const askPermission = async (): Promise<Permission> =>
  isAvailable() ? Notification.requestPermission() : 'unavailable';

const readingName = (ownId: number, key: string): string => `natter reads ${ownId} ${key}`;

/** Whether a tab with the focus shows the message. */
async function isOnScreen(ownId: number, { shownIn }: Alert): Promise<boolean> {
  const { held = [] } = await navigator.locks.query();
  const names = new Set(held.map(({ name }) => name));
  return shownIn.some((key) => names.has(readingName(ownId, key)));
}

/** Holds a lock while this list is on screen and has the focus. It shows the other tabs that the list is read here. */
export function useReadingLock(ownId: number, narrow: Narrow): void {
  const name = readingName(ownId, keyOf(narrow));
  useEffect(() => {
    if (!('locks' in navigator)) return;
    let end: (() => void) | undefined;
    const release = (): void => {
      end?.();
      end = undefined;
    };
    const follow = (): void => {
      const isRead = document.visibilityState === 'visible' && document.hasFocus();
      if (isRead === (end !== undefined)) return;
      if (!isRead) release();
      else {
        const reading = new Promise<void>((resolve) => {
          end = resolve;
        });
        navigator.locks.request(name, { mode: 'shared' }, () => reading).catch(() => undefined);
      }
    };
    follow();
    addEventListener('focus', follow);
    addEventListener('blur', follow);
    document.addEventListener('visibilitychange', follow);
    return () => {
      removeEventListener('focus', follow);
      removeEventListener('blur', follow);
      document.removeEventListener('visibilitychange', follow);
      release();
    };
  }, [name]);
}

const longestText = 200;

/** The text without its formatting and without the hidden part of spoilers. */
function plainText(html: string): string {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  for (const hidden of body.querySelectorAll('.spoiler-content')) hidden.remove();
  const text = body.textContent.trim().replace(/\s+/g, ' ');
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

function titleFor(model: Directory, { message, place }: Alert): string {
  const name = message.sender_full_name;
  const isToReaderAlone = place.kind === 'direct' && place.userIds.length === 1;
  return isToReaderAlone ? name : `${name} (${titleOf(model, place)})`;
}

class Notifier {
  readonly #session: Session;
  readonly #open: (alert: Alert) => void;
  /** Shown notifications by the id of their message. */
  readonly #shown = new Map<number, Notification>();

  constructor(session: Session, open: (alert: Alert) => void) {
    this.#session = session;
    this.#open = open;
  }

  async notify(alert: Alert): Promise<void> {
    const { ownId } = this.#session.state.model;
    if ((await isFirstToNotify(ownId, alert.message.id)) && !(await isOnScreen(ownId, alert))) this.#show(alert);
  }

  #show(alert: Alert): void {
    const { model } = this.#session.state;
    const { id, content, is_me_message, sender_full_name } = alert.message;
    const options = {
      body: is_me_message ? `${sender_full_name} ${plainText(afterName(content))}` : plainText(content),
      tag: `natter ${id}`,
      icon: '/assets/icon.svg',
      silent: !alert.hasSound,
    };
    const notification = new Notification(titleFor(model, alert), options);
    this.#shown.set(id, notification);
    notification.onclose = () => this.#shown.delete(id);
    notification.onclick = () => {
      notification.close();
      window.focus();
      this.#open(alert);
    };
  }

  /** Messages were read or deleted, perhaps elsewhere. */
  end(ids: readonly number[]): void {
    for (const id of ids) {
      this.#shown.get(id)?.close();
      this.#shown.delete(id);
    }
  }

  /** A notification of a closed page leads nowhere. */
  readonly endAll = (): void => this.end([...this.#shown.keys()]);
}

/** Notifies of new messages on the desktop, once in all tabs of the browser. */
export function useDesktopNotifications(session: Session): void {
  const navigate = useNavigate();
  useEffect(() => {
    const notifier = new Notifier(session, ({ place, message }) => void navigate(linkTo(place, message.id)));
    const end = session.onEvent((event) => {
      if (event.type === 'update_message_flags' && event.flag === 'read' && event.op === 'add')
        notifier.end(event.messages);
      if (event.type === 'delete_message')
        notifier.end('message_ids' in event ? event.message_ids : [event.message_id]);
      const alert = currentPermission() === 'granted' ? alertOf(session.state.model, event) : undefined;
      // A browser that permits notifications may still have no way for pages to show them.
      if (alert) notifier.notify(alert).catch(() => undefined);
    });
    addEventListener('pagehide', notifier.endAll);
    return () => {
      end();
      removeEventListener('pagehide', notifier.endAll);
      notifier.endAll();
    };
  }, [session, navigate]);
}
