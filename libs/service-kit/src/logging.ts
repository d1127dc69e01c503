import { type DestinationStream, type Logger, pino } from 'pino';
import { loggedError } from './logged-error.ts';
import { withoutSecrets } from './without-secrets.ts';

export type { Logger } from 'pino';

/** Writes JSON lines, by default to the standard output. Errors are logged under `err`. */
export function createLogger(service: string, level: string, destination?: DestinationStream): Logger {
  const log: Logger = pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => (error === undefined ? undefined : loggedError(error)) },
      formatters: { log: withoutSecrets },
    },
    destination ?? pino.destination(1),
  );
  // Pino formats the fields of entries, but not those of children. Children inherit this method.
  const { child } = log;
  log.child = function (this: Logger, bindings, options) {
    return child.call(this, withoutSecrets(bindings), options);
  } as Logger['child'];
  return log;
}
