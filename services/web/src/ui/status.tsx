import { useSyncExternalStore } from 'react';
import { serverNow } from '../session/server-time.ts';
import { type Availability, availabilityOf } from '../state/social.ts';
import { t } from '../text/text.ts';
import { EmojiGlyph } from './emoji.tsx';
import { useSelected } from './session-context.tsx';

const tickSeconds = 30;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The presence of people fades without events. */
function subscribeToClock(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, tickSeconds * 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time of the server in seconds, exact to half a minute. */
function useServerTime(): number {
  const clockSkew = useSelected((state) => state.clockSkew);
  const currentTick = (): number => Math.floor(serverNow({ clockSkew }) / 1_000 / tickSeconds) * tickSeconds;
  return useSyncExternalStore(subscribeToClock, currentTick);
}

export function useAvailability(userId: number): Availability {
  const now = useServerTime();
  return useSelected(({ model }) => availabilityOf(model.presence, userId, now));
}

export const availabilityNames = { active: t('active'), idle: t('idle'), offline: t('offline') } as const;

/** A dot that shows the presence of a person. */
export function PresenceDot({ userId }: { userId: number }) {
  const availability = useAvailability(userId);
  return (
    <span className="dot" data-availability={availability} title={availabilityNames[availability]}>
      {availability !== 'offline' && <span className="hidden">{availabilityNames[availability]}</span>}
    </span>
  );
}

/** The emoji of a person's status; its text is the title. */
export function StatusEmoji({ userId }: { userId: number }) {
  const status = useSelected(({ model }) => model.statuses.get(userId));
  if (!status?.emoji) return null;
  return (
    <span className="status-emoji" title={status.text}>
      <EmojiGlyph emoji={status.emoji} />
    </span>
  );
}
