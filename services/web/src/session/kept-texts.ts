import { removeBelow, storedBelow } from '../browser/storage.ts';

/** The browser keeps these texts of an account: unsent messages, drafts, unsaved edits, and topics of new messages. */
const kinds = ['outbox', 'draft', 'edit', 'topic'] as const;

/** The names of the entries begin with this. */
export const keptBelow = (kind: (typeof kinds)[number], ownId: number): string => `natter ${kind} ${ownId} `;

/** Whether this browser keeps something that the server does not have. */
export function keepsUnsent(ownId: number): boolean {
  const texts = (['outbox', 'draft', 'edit'] as const).flatMap((kind) => storedBelow(keptBelow(kind, ownId)));
  return texts.some(([, value]) => {
    const { content, text } = (value ?? {}) as { content?: unknown; text?: unknown };
    return [content, text].some((one) => typeof one === 'string' && one.trim() !== '');
  });
}

export function forgetTexts(ownId: number): void {
  for (const kind of kinds) removeBelow(keptBelow(kind, ownId));
}
