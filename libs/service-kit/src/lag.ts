/** How late the event loop of this process runs its work: because it computes, or because the machine does. */
export interface LagMeter {
  /** Milliseconds that a message waits before it is handled, as a mean over the last fraction of a second. */
  current(): number;
}

const lookEveryMs = 20;
const meanOverMs = 250;

export function startLagMeter(): LagMeter {
  let mean = 0;
  let expected = performance.now() + lookEveryMs;
  const look = (): void => {
    const now = performance.now();
    const lateMs = Math.max(0, now - expected);
    // In a turn that takes long, messages arrive at any time: they wait half of it on average.
    const kept = Math.exp(-(lookEveryMs + lateMs) / meanOverMs);
    mean = mean * kept + (lateMs / 2) * (1 - kept);
    expected = now + lookEveryMs;
  };
  setInterval(look, lookEveryMs).unref();
  return { current: () => mean };
}
