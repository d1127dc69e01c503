import { AsyncLocalStorage } from 'node:async_hooks';
import { withoutDeadline } from '@natter/database';

/** The name of the write that the running request is for. */
const writing = new AsyncLocalStorage<string | undefined>();

/** Runs the handler of a write whose effect is claimed by its unit; `name` is undefined for other handlers. */
export const inWrite = <R>(name: string | undefined, work: () => R): R => writing.run(name, work);

/**
 * Runs work in the request of a write that may open units of its own: the request does not claim them, so they are
 * repeated with it. Only for work that changes nothing the second time.
 */
export const besideWrite = <R>(work: () => R): R => inWrite(undefined, work);

/**
 * Runs work that belongs to no request although one started it, for example because several wait for it: without the
 * deadline, the cancellation and the claim of the request.
 */
export const apartFromRequest = <R>(work: () => R): R => withoutDeadline(() => besideWrite(work));

/** Fails in the request of a write: a unit that its key does not claim would have its effect again in a repetition. */
export function refuseUnclaimedUnit(): void {
  const name = writing.getStore();
  if (name !== undefined) throw new Error(`${name} opened a unit beside \`context.write\`; see \`besideWrite\``);
}
