import type { Client, Json, Realm } from '@natter/testkit';

/** One call of one operation by one caller. Ids that a row names are of `realm`, whoever calls. */
export interface Cell {
  realm: Realm;
  /** Whose things the caller uses: their own; a member's, where the caller can have none. */
  own: Client;
  /** A bot of the realm's member. */
  bot: Client;
  /** A channel to which everybody is subscribed, a web-public one, and a message in the first. */
  channel: number;
  channelName: string;
  open: number;
  message: number;
  /** Differs from call to call. */
  n: number;
}

export interface Row {
  /** Nobody is asked who they are. */
  isAsked?: false;
  /** Values of the path's parameters, and others that `form` needs. */
  at?: (cell: Cell) => Promise<Record<string, Json>>;
  form?: (cell: Cell, at: Record<string, Json>) => Json | Promise<Json>;
  /** With a picture beside the form. */
  file?: true;
  /** The caller is somebody made for this call, since it ends them. */
  isLast?: true;
  /** The realm is one made for this call. */
  isOwnRealm?: true;
  /** What others of the same realm are answered who use the thing of somebody else; without it, it is nobody's own. */
  others?: string;
  /** What who is refused is told; BAD_REQUEST unless said. */
  no?: string;
  /** What strangers are told who name this realm's things; as `no` unless said. */
  x?: string;
}

/**
 * The letters of who may: o owner, a administrator, m moderator, u member, g guest, b bot (a member's, with the role of a member),
 * s without authentication, d deactivated, x the owner of another realm who names what this one has. Where x may, the operation
 * names nothing, and acts on that other realm.
 */
export type Table = Record<string, [may: string, row?: Row]>;

export const all = 'oamugbsdx';
export const signedIn = 'oamugbx';
export const here = 'oamugb';
export const people = 'oamugx';
