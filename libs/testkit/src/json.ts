// biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field by the tests.
export type Json = any;
export type Form = Record<string, unknown>;

/** Sends a request, and returns the body of its successful answer. */
export interface Asks {
  readonly user_id: number;
  ok(method: string, path: string, form?: Form): Promise<Json>;
}
