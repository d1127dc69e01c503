import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['password', 'api_key', '*.password', '*.api_key', 'authorization'], censor: '[redacted]' },
  });
}
