import { type DestinationStream, type Logger, pino } from 'pino';
import { loggedError } from './logged-error.ts';

export type { Logger } from 'pino';

/** Writes JSON lines, by default to the standard output. Errors are logged under `err`. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => (error === undefined ? undefined : loggedError(error)) },
      redact: { paths: ['password', 'api_key', '*.password', '*.api_key', 'authorization'], censor: '[redacted]' },
    },
    destination ?? pino.destination(1),
  );
}
