/**
 * Preloaded into the processes that NATTER_TEST_CLOCK_OF names: their wall clock is offset by the milliseconds that the
 * file NATTER_TEST_CLOCK contains for their process id, and follows changes of the file at once. As on a real machine,
 * timers are not affected.
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
      // The file is being written.
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
