import type { Logger } from '@natter/service-kit';

/** A logger that collects errors: no process may log one in a schedule. */
export function createCollectingLog(
  name: string,
  onError: (line: string) => void,
  onLine?: (line: string) => void,
): Logger {
  const write =
    (level: string) =>
    (...args: unknown[]): void => {
      if (level !== 'error' && level !== 'fatal' && !onLine) return;
      const line = `${name} ${level}: ${args.map(textOf).join(' ')}`;
      onLine?.(line);
      if (level === 'error' || level === 'fatal') onError(line);
    };
  const log = { trace: write('trace'), debug: write('debug'), info: write('info'), warn: write('warn') };
  const all = { ...log, error: write('error'), fatal: write('fatal'), child: () => all };
  return all as unknown as Logger;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return String(value.stack);
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, part]) => `${name}=${part instanceof Error ? errorText(part) : JSON.stringify(part)}`)
    .join(' ');
}

const errorText = (error: Error): string =>
  error.cause instanceof Error ? `${error.stack} caused by ${errorText(error.cause)}` : String(error.stack);
