import { AsyncLocalStorage } from 'node:async_hooks';

/** A simulated process: its work stays associated with it across every await and timer. */
export interface Host {
  readonly name: string;
  /** A crashed host runs nothing; messages that it sent may still arrive. */
  hasCrashed: boolean;
  /** A hanging host runs nothing until this time, and then everything it missed. Simulated milliseconds. */
  hangsUntil: number;
  /** Offset of its clock from true time, in milliseconds. */
  clockOffsetMs: number;
}

const storage = new AsyncLocalStorage<Host>();

export const createHost = (name: string): Host => ({ name, hasCrashed: false, hangsUntil: 0, clockOffsetMs: 0 });
export const currentHost = (): Host | undefined => storage.getStore();
export const runOn = <R>(host: Host, work: () => R): R => storage.run(host, work);
