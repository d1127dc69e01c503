import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Nice value, up to 19. Threads of normal priority get about nine times as much of a contended CPU. */
const niceness = 10;

/**
 * Lowers the priority of this thread. Rendering heavy text waits on a busy machine, so that the thread that answers requests
 * does not. On Linux each thread has its own priority; elsewhere all threads keep the normal one.
 */
export function giveWay(): void {
  try {
    setPriority(Number(readFileSync('/proc/thread-self/stat', 'utf8').split(' ', 1)[0]), niceness);
  } catch {
    // No /proc.
  }
}
