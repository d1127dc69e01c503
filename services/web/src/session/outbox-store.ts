import { repeatableMs } from '@natter/client';
import { store, storedBelow } from '../browser/storage.ts';
import type { Outgoing } from '../state/state.ts';
import { t } from '../text/text.ts';
import { keptBelow } from './kept-texts.ts';

/** The problem of a message that is too old to be sent again under its key. It could be there twice, so its writer decides. */
export const notConfirmed = (): string => t('thisMessageWasNotConfirmedForA');

const prefixOf = (ownId: number): string => keptBelow('outbox', ownId);

/** Messages of an earlier page or another tab whose acceptance is unknown, oldest first. */
export function readOutbox(ownId: number): Outgoing[] {
  const kept = storedBelow(prefixOf(ownId)) as [string, Outgoing | null][];
  return kept
    .flatMap(([id, one]) => (typeof one?.content === 'string' && one.place ? [{ ...one, id }] : []))
    .sort((a, b) => a.at - b.at)
    .map((one) => (Date.now() - one.at < repeatableMs ? one : { ...one, problem: notConfirmed() }));
}

/** Stores messages that are being sent, so that they survive a reload. Each has its own entry, because tabs share the storage. */
export function writeOutbox(ownId: number, before: readonly Outgoing[], after: readonly Outgoing[]): void {
  const waiting = new Map(after.filter(({ sentAs }) => sentAs === undefined).map((one) => [one.id, one]));
  for (const { id } of before) if (!waiting.has(id)) store(prefixOf(ownId) + id, undefined);
  for (const one of waiting.values()) if (!before.includes(one)) store(prefixOf(ownId) + one.id, JSON.stringify(one));
}
