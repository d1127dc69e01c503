import { expect, test } from 'vitest';
import { type Action, initialState, type State } from '../state/state.ts';
import { Connection } from './connection.ts';

test('a tab reports only its own failures to the other tabs', () => {
  let connection: State['connection'] = 'connected';
  let told = 0;
  const tab = new Connection({
    client: { getServerSettings: () => new Promise<never>(() => undefined) },
    state: () => ({ ...initialState({} as never), connection }),
    dispatch: (action: Action) => {
      if (action.type === 'connection') connection = action.connection;
    },
    tellOthers: () => told++,
  });
  tab.lost();
  tab.attempted(new Error('not reached'));
  expect([connection, told]).toEqual(['reconnecting', 0]);
  connection = 'connected';
  tab.attempted(new Error('not reached'));
  expect([connection, told]).toEqual(['reconnecting', 1]);
});
