import { ChatError, errorStatus } from '@natter/contracts';
import { expect, test } from 'vitest';
import { isCausedByEvent } from './failing-realms.ts';
import { isConnectionFailure, isRefusedForNow, isServerTrouble } from './sql-state.ts';

const withCode = (code: string): Error => Object.assign(new Error('failed'), { code });

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', '08006', '57P01', '25P03'],
  ...['ERR_STREAM_DESTROYED', 'ERR_SOCKET_CLOSED', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'],
])('%s is a failed connection', (code) => {
  expect(isConnectionFailure(withCode(code))).toBe(true);
});

test.each(['23505', '25006', 'ERR_INVALID_ARG_TYPE'])('%s is not a failed connection', (code) => {
  expect(isConnectionFailure(withCode(code))).toBe(false);
});

test('errors for clients are not failed connections', () => {
  const codes = Object.keys(errorStatus) as (keyof typeof errorStatus)[];
  expect(codes.filter((code) => isConnectionFailure(new ChatError(code, 'refused')))).toEqual([]);
});

test.each([
  ['a check constraint of a table', { schema: 'users', table: 'account', constraint: 'account_check' }],
  ['a check constraint of the log', { schema: 'log', table: 'event', constraint: 'event_check' }],
  ['a partition of another table', { schema: 'messaging', table: 'message' }],
])('%s that rejects a row is not a server problem', (_, fields) => {
  const error = Object.assign(withCode('23514'), fields);
  expect([isServerTrouble(error), isRefusedForNow(error), isCausedByEvent(error)]).toEqual([false, false, true]);
});
