import type { Figures } from './load.ts';

export interface Measured {
  fault: string;
  kind: 'instant' | 'lasting';
  outageMs: number;
  figures: Figures;
  /** The errors of failed polls of followers. */
  polls: string[];
  deliveryMs: number;
  problems: string[];
  /** The messages that processes logged as errors. */
  errors: string[];
}

export type Row = Measured | { fault: string; skipped: string };

/** How much longer than a fault the longest wait may be. */
const graceMs = 3_000;

/** Whether a request or a delivery waited longer than is promised for the fault. */
const isLate = ({ kind, outageMs, figures, deliveryMs }: Measured): boolean =>
  Math.max(figures.longestMs, deliveryMs) > (kind === 'instant' ? 0 : outageMs) + graceMs;

export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    if ('skipped' in row) return `| ${row.fault} | SKIPPED: ${row.skipped} | | | | | | |`;
    const { reads, writes, failures, longestMs, longestWhat } = row.figures;
    const counts = [...failures].map(([code, count]) => `${count} ${code}`);
    const polls = row.polls.length > 0 ? [`${row.polls.length} poll`] : [];
    const cells = [
      row.fault,
      seconds(row.outageMs),
      `${reads} / ${writes}`,
      [...counts, ...polls].join(', ') || 'none',
      `${seconds(longestMs)} ${longestWhat}`,
      seconds(row.deliveryMs),
      isLate(row) ? 'late' : '',
      row.problems.length,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| Fault | Seconds | Reads / writes | Failed attempts | Longest request | Longest delivery | | Problems |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
