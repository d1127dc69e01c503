import type { Measurement } from '../harness/measurement.ts';
import type { Plot } from '../harness/scenario.ts';
import { number } from './format.ts';

const width = 720;
const height = 400;
const box = { left: 70, right: 700, top: 40, bottom: 330 };
const colours = [
  '#2563eb',
  '#dc2626',
  '#059669',
  '#d97706',
  '#7c3aed',
  '#0891b2',
  '#be185d',
  '#4d7c0f',
  '#64748b',
  '#111827',
];

/** Lines with points, as a separate picture. */
export function lines({ title, x, y, isLogX = false, series }: Plot): string {
  const points = series.flatMap((one) => one.points);
  const toX = axis(
    points.map(([at]) => at),
    box.left,
    box.right,
    isLogX,
  );
  const toY = axis([0, ...points.map(([, value]) => value)], box.bottom, box.top, false);
  const drawn = series.map(({ points: own }, index) => {
    const colour = colours[index % colours.length];
    const path = own.map(([at, value]) => `${toX.place(at)},${toY.place(value)}`).join(' ');
    const dots = own.map(
      ([at, value]) =>
        `<circle cx="${toX.place(at)}" cy="${toY.place(value)}" r="3" fill="${colour}"><title>${number(at)}: ${number(value)}</title></circle>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
  });
  return picture(title, [grid(toX, toY), ...drawn, legend(series.map((one) => one.name)), labels(x, y)]);
}

/** The cost of a unit, one bar per measurement, split by process. */
export function bars(title: string, measurements: readonly Measurement[]): string {
  const processes = [...new Set(measurements.flatMap((one) => Object.keys(one.cpu)))];
  const totals = measurements.map((one) => Object.values(one.cpu).reduce((sum, cost) => sum + cost, 0));
  const toY = axis([0, ...totals], box.bottom, box.top, false);
  const step = (box.right - box.left) / Math.max(measurements.length, 1);
  const drawn = measurements.map(({ name, isFloor, cpu }, index) => {
    const left = box.left + index * step + step * 0.2;
    let below = 0;
    const parts = processes.map((process, colour) => {
      const from = toY.place(below);
      below += cpu[process] ?? 0;
      const top = toY.place(below);
      return `<rect x="${left}" y="${top}" width="${step * 0.6}" height="${from - top}" fill="${colours[colour % colours.length]}"><title>${process}: ${number(cpu[process] ?? 0)} ms</title></rect>`;
    });
    const middle = left + step * 0.3;
    const label = `<text x="${middle}" y="${box.bottom + 14}" font-size="10" text-anchor="middle">${escaped(`${isFloor ? 'floor: ' : ''}${name}`.slice(0, Math.floor(step / 5)))}</text>`;
    return parts.join('') + label;
  });
  return picture(title, [grid(undefined, toY), ...drawn, legend(processes), labels('', 'CPU ms per unit')]);
}

/** The latency distribution, one line per measurement. */
export const distribution = (title: string, measurements: readonly Measurement[]): string =>
  lines({
    title,
    x: 'share of answers',
    y: 'ms',
    series: measurements.map(({ name, isFloor, curve }) => ({
      name: `${isFloor ? 'floor: ' : ''}${name}`,
      points: curve.filter(([share]) => share <= 0.995),
    })),
  });

interface Axis {
  place(value: number): number;
  ticks: number[];
}

function axis(values: readonly number[], from: number, to: number, isLog: boolean): Axis {
  const scale = (value: number): number => (isLog ? Math.log10(Math.max(value, 1e-9)) : value);
  const low = Math.min(...values);
  const high = Math.max(...values, low + 1e-9);
  const place = (value: number): number =>
    Math.round((from + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (to - from)) * 10) / 10;
  const ticks = isLog ? [...new Set(values)] : [0, 0.25, 0.5, 0.75, 1].map((share) => low + (high - low) * share);
  return { place, ticks };
}

function grid(x: Axis | undefined, y: Axis): string {
  const horizontal = y.ticks.map(
    (tick) =>
      `<line x1="${box.left}" x2="${box.right}" y1="${y.place(tick)}" y2="${y.place(tick)}" stroke="#e5e7eb"/><text x="${box.left - 6}" y="${y.place(tick) + 4}" font-size="11" text-anchor="end">${number(tick)}</text>`,
  );
  const vertical = (x?.ticks ?? []).map(
    (tick) =>
      `<text x="${x?.place(tick)}" y="${box.bottom + 16}" font-size="11" text-anchor="middle">${number(tick)}</text>`,
  );
  return horizontal.join('') + vertical.join('');
}

const legend = (names: readonly string[]): string =>
  names
    .map((name, index) => {
      const left = box.left + (index % 4) * 160;
      const top = 362 + Math.floor(index / 4) * 14;
      return `<rect x="${left}" y="${top - 8}" width="9" height="9" fill="${colours[index % colours.length]}"/><text x="${left + 13}" y="${top}" font-size="11">${escaped(name.slice(0, 26))}</text>`;
    })
    .join('');

const labels = (x: string, y: string): string =>
  `<text x="${(box.left + box.right) / 2}" y="${box.bottom + 30}" font-size="11" text-anchor="middle">${escaped(x)}</text><text x="16" y="${(box.top + box.bottom) / 2}" font-size="11" text-anchor="middle" transform="rotate(-90 16 ${(box.top + box.bottom) / 2})">${escaped(y)}</text>`;

const picture = (title: string, parts: readonly string[]): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif"><rect width="${width}" height="${height}" fill="#fff"/><text x="${box.left}" y="22" font-size="14">${escaped(title)}</text>${parts.join('')}</svg>\n`;

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
