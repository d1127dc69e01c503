/** Milliseconds. */
export interface Latency {
  mean: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

export function latencyOf(samples: Iterable<number>): Latency {
  const sorted = Float64Array.from(samples).sort();
  return {
    mean: sorted.reduce((sum, sample) => sum + sample, 0) / Math.max(sorted.length, 1),
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  };
}

/** For an ascending list; the smallest sample that the given share does not exceed. */
function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[at] ?? 0;
}

export const median = (samples: readonly number[]): number =>
  quantile(
    [...samples].sort((a, b) => a - b),
    0.5,
  );

const shares = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1];

/** The distribution as a few points, for plots. */
export function curveOf(samples: Iterable<number>): [share: number, milliseconds: number][] {
  const sorted = Float64Array.from(samples).sort();
  return shares.map((share) => [share, quantile(sorted, share)]);
}

/** Milliseconds of a monotonic clock that all processes of this machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;
