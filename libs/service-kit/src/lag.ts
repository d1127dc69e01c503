import { createHistogram } from 'node:perf_hooks';

/** How late event loops run their work, because of computation or because the machine is busy. */
export interface Lag {
  /** Mean time in milliseconds that a message waits before it is handled, over the last fraction of a second. */
  ms: number;
  /** The share of it caused by long turns: small for many short requests, large for a few expensive ones. */
  longMs: number;
}

export interface LagMeter {
  current(): Lag;
}

/** How late the event loop of this process ran its looks, in nanoseconds, since the metrics were last read. */
export const delays = createHistogram();

const lookEveryMs = 20;
const meanOverMs = 250;
const longTurnMs = 5;
/** A gap longer than this, in which the process used less than a tenth of it as CPU time, is no lag: it was stopped. */
const stoppedMs = 1_000;

export function startLagMeter(): LagMeter {
  const mean: Lag = { ms: 0, longMs: 0 };
  let expected = performance.now() + lookEveryMs;
  let usedBefore = usedMs();
  const look = (): void => {
    const now = performance.now();
    const used = usedMs();
    const gapMs = Math.max(0, now - expected);
    delays.record(Math.max(1, Math.round(gapMs * 1e6)));
    const lateMs = gapMs > stoppedMs && used - usedBefore < gapMs / 10 ? 0 : gapMs;
    usedBefore = used;
    // In a long turn messages arrive at any time, so they wait half of it on average.
    const kept = Math.exp(-(lookEveryMs + lateMs) / meanOverMs);
    mean.ms = mean.ms * kept + (lateMs / 2) * (1 - kept);
    mean.longMs = mean.longMs * kept + (lateMs > longTurnMs ? lateMs / 2 : 0) * (1 - kept);
    expected = now + lookEveryMs;
  };
  setInterval(look, lookEveryMs).unref();
  return { current: () => ({ ...mean }) };
}

/** CPU time of the main thread. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

export const lagText = ({ ms, longMs }: Lag): string => `${ms.toFixed(1)} ${longMs.toFixed(1)}`;

/** Undefined if the text is no lag. Processes of the previous release send only `ms`. */
export function lagOf(text: string): Lag | undefined {
  const [ms, longMs = ms] = text.split(' ').map(Number);
  return ms === undefined || longMs === undefined || Number.isNaN(ms + longMs) ? undefined : { ms, longMs };
}

export const worstOf = (lags: readonly Lag[]): Lag => ({
  ms: Math.max(0, ...lags.map(({ ms }) => ms)),
  longMs: Math.max(0, ...lags.map(({ longMs }) => longMs)),
});
