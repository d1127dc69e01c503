import { expect, test, vi } from 'vitest';
import { type Action, initialState, type Outgoing, type State } from '../state/state.ts';
import { Connection } from './connection.ts';

test('a tab reports only its own failures to the other tabs', () => {
  let connection: State['connection'] = 'connected';
  let notified = 0;
  const tab = new Connection({
    client: { getServerSettings: () => new Promise<never>(() => undefined) },
    state: () => ({ ...initialState({} as never), connection }),
    dispatch: (action: Action) => {
      if (action.type === 'connection') connection = action.connection;
    },
    notifyOthers: () => notified++,
  });
  tab.lost();
  tab.attempted(new Error('not reached'));
  expect([connection, notified]).toEqual(['reconnecting', 0]);
  connection = 'connected';
  tab.attempted(new Error('not reached'));
  expect([connection, notified]).toEqual(['reconnecting', 1]);
});

/** A tab whose message waits. The server answers while `isUp` is set. */
function tabWithMessage() {
  const server = { isUp: true, notified: 0 };
  const store = { state: { ...initialState({} as never), outbox: [{ id: 'first' } as Outgoing] } as State };
  const tab = new Connection({
    client: {
      getServerSettings: (_, options) =>
        server.isUp
          ? Promise.resolve({} as never)
          : options?.retryForMs === 0
            ? Promise.reject(new Error('not reached'))
            : new Promise<never>(() => undefined),
    },
    state: () => store.state,
    dispatch: (action: Action) => {
      if (action.type === 'connection') store.state = { ...store.state, connection: action.connection };
    },
    notifyOthers: () => server.notified++,
  });
  return { tab, server, store };
}

test('while only a message is not accepted, the server is not called unreachable, nor the page up to date', async () => {
  vi.useFakeTimers();
  const { tab, server, store } = tabWithMessage();
  const seen = new Set<string>();
  for (let attempt = 0; attempt < 5; attempt++) {
    tab.attempted(new Error('only this path fails'));
    await vi.advanceTimersByTimeAsync(0);
    seen.add(store.state.connection);
    await vi.advanceTimersByTimeAsync(2_000);
    seen.add(store.state.connection);
  }
  expect([[...seen], server.notified]).toEqual([['unsent'], 1]);
  store.state = { ...store.state, outbox: [] };
  await vi.advanceTimersByTimeAsync(1_000);
  expect(store.state.connection).toBe('caught up');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.state.connection).toBe('connected');
  vi.useRealTimers();
});

test('a server that no longer answers is called unreachable also while a message waits', async () => {
  vi.useFakeTimers();
  const { tab, server, store } = tabWithMessage();
  tab.attempted(new Error('only this path fails'));
  await vi.advanceTimersByTimeAsync(1_000);
  server.isUp = false;
  tab.attempted(new Error('not reached'));
  await vi.advanceTimersByTimeAsync(0);
  expect([store.state.connection, server.notified]).toEqual(['reconnecting', 2]);
  store.state = { ...store.state, outbox: [] };
  await vi.advanceTimersByTimeAsync(10_000);
  expect(store.state.connection).toBe('reconnecting');
  vi.useRealTimers();
});
