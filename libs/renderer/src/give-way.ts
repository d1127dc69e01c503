import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Of 19. Threads of usual priority get about three times as much of a processor that is contended. */
const niceness = 5;

// Heavy text waits where the machine is busy, and the thread that answers requests does not. On Linux each thread has a priority of its
// own; elsewhere all threads have the usual one.
try {
  setPriority(Number(readFileSync('/proc/thread-self/stat', 'utf8').split(' ', 1)[0]), niceness);
} catch {
  // No /proc.
}
