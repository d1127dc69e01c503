import type { EventViews } from '@natter/contracts';

/** The fields of each event beside `id`, `type` and `op`, by `type` or `type/op`. */
export type EventBodies = EventViews;

type Named<K extends string> = K extends `${infer T}/${infer O}` ? { type: T; op: O } : { type: K };

/** An event of a queue: a union discriminated by `type` and, where present, `op`. */
export type ChatEvent = { [K in keyof EventBodies]: { id: number } & Named<K> & EventBodies[K] }[keyof EventBodies];

/** A message of an event. */
export type EventMessage = EventBodies['message']['message'];
