/**
 * Loaded before anything else into the processes that NATTER_TEST_CLOCK_OF names: their wall clock differs from the machine's by what
 * the file NATTER_TEST_CLOCK says for their process id, in milliseconds, and moves as soon as that changes. As on a real machine,
 * timers do not follow it.
 */
import { readFileSync } from 'node:fs';

const { NATTER_TEST_CLOCK: file, NATTER_TEST_CLOCK_OF: program } = process.env;

if (file && program && process.argv[1]?.includes(program)) {
  const Real = Date;
  let movedMs = 0;
  const look = () => {
    try {
      movedMs = JSON.parse(readFileSync(file, 'utf8'))[process.pid] ?? 0;
    } catch {
      // It is being written.
    }
  };
  look();
  setInterval(look, 20).unref();
  globalThis.Date = class extends Real {
    constructor(...given) {
      if (given.length === 0) super(Real.now() + movedMs);
      else super(...given);
    }
    static now() {
      return Real.now() + movedMs;
    }
  };
}
