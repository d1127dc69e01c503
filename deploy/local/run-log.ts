import { createWriteStream, type WriteStream } from 'node:fs';

/** A file with the output of one run. */
interface RunLog {
  write(line: string): void;
  /** Calls `done` when everything is written, or cannot be. */
  end(text: string, done: () => void): void;
}

/** Lines that the disk does not take in time are left out. */
const maxWaitingBytes = 1024 * 1024;

/**
 * Begins a new file. A full disk must not end the run: lines are left out until the file can be written again, which is
 * tried every `retryMs`.
 */
export function openRunLog(path: string, retryMs = 5_000): RunLog {
  let stream: WriteStream | undefined;
  let omitted = 0;

  function open(flags: 'w' | 'a'): void {
    const opened = createWriteStream(path, { flags, mode: 0o600 });
    stream = opened;
    opened.on('error', () => {
      if (stream !== opened) return;
      stream = undefined;
      setTimeout(() => open('a'), retryMs).unref();
    });
  }

  open('w');
  return {
    write(line) {
      if (!stream || stream.writableLength > maxWaitingBytes) {
        omitted++;
        return;
      }
      const note = omitted > 0 ? `${omitted} lines are missing here\n` : '';
      omitted = 0;
      stream.write(`${note}${line}\n`);
    },
    end(text, done) {
      if (stream) stream.end(text, done);
      else done();
    },
  };
}
