import type { State } from '../state/state.ts';

/** The time of the server in milliseconds: the clock of this machine may be wrong. */
export const serverNow = ({ clockSkew }: Pick<State, 'clockSkew'>): number => Date.now() + clockSkew * 1_000;
