import type { Panel } from './dashboard-definitions.ts';

export interface Series {
  name: string;
  points: { at: number; value: number }[];
}
interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

const colours = [
  '#3274d9',
  '#e0752d',
  '#37872d',
  '#c4162a',
  '#8f3bb8',
  '#e5ac0e',
  '#1f78c1',
  '#7a7a7a',
  '#0a437c',
  '#b7410e',
];
const xml = (text: string): string =>
  text.replace(/[<>&]/g, (sign) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[sign] ?? '');

export function drawPanel(panel: Panel, series: Series[], range: { start: number; end: number }, place: Place): string {
  const { x, y, width, height } = place;
  const body =
    panel.kind === 'stat' ? drawNumber(panel, series, width, height) : drawGraph(panel, series, range, place);
  return [
    `<g transform="translate(${x} ${y})">`,
    `<rect width="${width}" height="${height}" rx="3" fill="#fff" stroke="#d8dbe0"/>`,
    `<text x="10" y="18" font-weight="bold" fill="#333">${xml(panel.title)}</text>`,
    ...body,
    '</g>',
  ].join('\n');
}

/** The worst value of the whole run, not its last one: a picture must not hide a fault. */
function drawNumber(
  { unit, alarmAbove = Number.POSITIVE_INFINITY }: Panel,
  series: Series[],
  width: number,
  height: number,
): string[] {
  const values = series.flatMap(({ points }) => points.map(({ value }) => value));
  const worst = values.length > 0 ? Math.max(...values) : undefined;
  const last = series[0]?.points.at(-1)?.value;
  const colour = worst === undefined ? '#999' : (last ?? 0) > alarmAbove ? '#c4162a' : '#37872d';
  return [
    `<text x="${width / 2}" y="${height / 2 + 16}" font-size="46" text-anchor="middle" fill="${colour}">${worst === undefined ? 'no data' : format(last ?? 0, unit)}</text>`,
    `<text x="${width / 2}" y="${height - 14}" text-anchor="middle" fill="#777">${worst === undefined ? '' : `highest ${format(worst, unit)}`}</text>`,
  ];
}

function drawGraph(
  { unit }: Panel,
  series: Series[],
  range: { start: number; end: number },
  { width, height }: Place,
): string[] {
  const area = { left: 58, right: width - 12, top: 30, bottom: height - 44 };
  const top = niceCeiling(Math.max(0, ...series.flatMap(({ points }) => points.map(({ value }) => value))));
  const px = (at: number): number =>
    area.left + ((at - range.start) / (range.end - range.start)) * (area.right - area.left);
  const py = (value: number): number => area.bottom - (value / top) * (area.bottom - area.top);
  const parts: string[] = [];
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const at = py(top * part).toFixed(1);
    parts.push(
      `<line x1="${area.left}" x2="${area.right}" y1="${at}" y2="${at}" stroke="#eceef1"/>`,
      `<text x="${area.left - 6}" y="${Number(at) + 4}" text-anchor="end" fill="#777">${format(top * part, unit)}</text>`,
    );
  }
  for (let at = Math.ceil(range.start / 30) * 30; at <= range.end; at += 30)
    parts.push(
      `<text x="${px(at).toFixed(1)}" y="${area.bottom + 14}" text-anchor="middle" fill="#999">${new Date(at * 1000).toISOString().slice(14, 19)}</text>`,
    );
  let legendX = area.left;
  for (const [index, { name, points }] of series.entries()) {
    const colour = colours[index % colours.length];
    parts.push(
      `<path d="${line(points, px, py, (range.end - range.start) / 60)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    );
    const label = xml(name);
    if (legendX + label.length * 6 + 22 > area.right) continue;
    parts.push(
      `<rect x="${legendX}" y="${height - 20}" width="10" height="3" fill="${colour}"/>`,
      `<text x="${legendX + 14}" y="${height - 15}" fill="#555">${label}</text>`,
    );
    legendX += label.length * 6 + 28;
  }
  if (series.every(({ points }) => points.length === 0))
    parts.push(`<text x="${width / 2}" y="${height / 2}" text-anchor="middle" fill="#aaa">no data</text>`);
  return parts;
}

/** A gap of more than `gap` seconds interrupts the line. */
function line(
  points: Series['points'],
  px: (at: number) => number,
  py: (value: number) => number,
  gap: number,
): string {
  return points
    .map(({ at, value }, index) => {
      const isFirst = index === 0 || at - (points[index - 1]?.at ?? 0) > gap;
      return `${isFirst ? 'M' : 'L'}${px(at).toFixed(1)} ${py(value).toFixed(1)}`;
    })
    .join('');
}

function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) as number) * power;
}

function format(value: number, unit: Panel['unit']): string {
  const short = (number: number): string =>
    number >= 100 || Number.isInteger(number) ? number.toFixed(0) : Number(number.toPrecision(3)).toString();
  if (unit === 's') return value >= 1 || value === 0 ? `${short(value)} s` : `${short(value * 1000)} ms`;
  if (unit === 'bytes') return `${short(value / 1e6)} MB`;
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit === 'reqps' || unit === 'ops') return `${short(value)}/s`;
  return value >= 10_000 ? `${short(value / 1000)} k` : short(value);
}
