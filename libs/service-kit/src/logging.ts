import { type DestinationStream, type Logger, pino } from 'pino';
import { loggedError } from './logged-error.ts';
import { withoutSecrets } from './without-secrets.ts';

export type { Logger } from 'pino';

/** Writes JSON lines, by default to the standard output. Errors are logged under `err`. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => (error === undefined ? undefined : loggedError(error)) },
      formatters: { log: withoutSecrets, bindings: withoutSecrets },
    },
    destination ?? pino.destination(1),
  );
}
