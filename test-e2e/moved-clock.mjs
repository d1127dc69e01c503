/**
 * Preloaded into the processes of a system: their wall clock is offset by the milliseconds that the file NATTER_TEST_CLOCK
 * contains for their process id, and follows changes of the file at once. Each change is printed, so that tests see it. As
 * on a real machine, timers are not affected.
 */
import { readFileSync } from 'node:fs';

const { NATTER_TEST_CLOCK: file } = process.env;

if (file) {
  const Real = Date;
  let movedMs = 0;
  const look = () => {
    const before = movedMs;
    try {
      movedMs = JSON.parse(readFileSync(file, 'utf8'))[process.pid] ?? 0;
    } catch {
      // The file is being written.
    }
    if (movedMs !== before) console.log(JSON.stringify({ msg: 'clock moved', pid: process.pid, ms: movedMs }));
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
