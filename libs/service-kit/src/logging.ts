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
    destination ?? standardOutput(),
  );
  // Pino formats the fields of entries, but not those of children. Children inherit this method.
  const { child } = log;
  log.child = function (this: Logger, bindings, options) {
    return child.call(this, withoutSecrets(bindings), options);
  } as Logger['child'];
  return log;
}

/** Lines that a full disk does not take are kept up to this size. */
const maxWaitingCharacters = 1024 * 1024;

/** If standard output cannot be written, for example on a full disk, lines are lost and the process continues. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, maxLength: maxWaitingCharacters });
  output.on('error', () => undefined);
  return output;
}
