import type { Client, Json, Realm } from '@natter/testkit';

/** One call of one operation by one caller. Ids in a row are those of `realm`, for every caller. */
export interface Cell {
  realm: Realm;
  /** The owner of the objects that the caller uses: the caller, or a member if the caller can have none. */
  own: Client;
  /** A bot of the realm's member. */
  bot: Client;
  /** A channel with all callers as subscribers, a web-public one, and a message in the first. */
  channel: number;
  channelName: string;
  open: number;
  message: number;
  /** Unique per call. */
  n: number;
}

export interface Row {
  /** The operation ignores credentials. */
  isAsked?: false;
  /** Values of path parameters, and others that `form` needs. */
  at?: (cell: Cell) => Promise<Record<string, Json>>;
  form?: (cell: Cell, at: Record<string, Json>) => Json | Promise<Json>;
  headers?: Record<string, string>;
  /** Sends an image in addition to the form. */
  file?: true;
  /** The caller is created for this call, because the call ends the account. */
  isLast?: true;
  /** The realm is created for this call. */
  isOwnRealm?: true;
  /** The answer to other users of the same realm who use another user's object; absent if the object has no owner. */
  others?: string;
  /** The refusal; BAD_REQUEST by default. */
  no?: string;
  /** The refusal to users of another realm who name this realm's objects; equals `no` by default. */
  x?: string;
}

/**
 * The letters of the permitted callers: o owner, a administrator, m moderator, u member, g guest, b bot (a member's,
 * with the role of a member), s without authentication, d deactivated, x the owner of another realm who names objects
 * of this one. If x is permitted, the operation names no object and acts on that other realm.
 */
export type Table = Record<string, [may: string, row?: Row]>;

export const all = 'oamugbsdx';
export const signedIn = 'oamugbx';
export const here = 'oamugb';
export const people = 'oamugx';
