import { ChatError, errorStatus } from '@natter/contracts';
import { expect, test } from 'vitest';
import { isConnectionFailure } from './sql-state.ts';

const withCode = (code: string): Error => Object.assign(new Error('failed'), { code });

test.each([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAI_AGAIN', '08006', '57P01', '25P03'],
  ...['ERR_STREAM_DESTROYED', 'ERR_SOCKET_CLOSED', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'],
])('%s is a failed connection', (code) => {
  expect(isConnectionFailure(withCode(code))).toBe(true);
});

test.each(['23505', '25006', 'ERR_INVALID_ARG_TYPE'])('%s is no failed connection', (code) => {
  expect(isConnectionFailure(withCode(code))).toBe(false);
});

test('no error that a client is told is a failed connection', () => {
  const codes = Object.keys(errorStatus) as (keyof typeof errorStatus)[];
  expect(codes.filter((code) => isConnectionFailure(new ChatError(code, 'refused')))).toEqual([]);
});
