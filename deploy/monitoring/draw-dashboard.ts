import type { Dashboard } from './dashboard-definitions.ts';
import { drawPanel, type Series } from './draw-panel.ts';

export interface TimeRange {
  /** Seconds since 1970. */
  start: number;
  end: number;
}

const column = 52;
const rowHeight = 220;

/** Draws a dashboard with the same queries as Grafana. */
export async function drawDashboard(
  { title, panels }: Dashboard,
  prometheus: string,
  range: TimeRange,
): Promise<string> {
  let x = 0;
  let y = 0;
  const drawn: string[] = [];
  for (const panel of panels) {
    if (x + panel.width > 24) {
      x = 0;
      y++;
    }
    const series = (
      await Promise.all(panel.queries.map(({ expr, legend }) => query(prometheus, expr, legend, range)))
    ).flat();
    const place = { x: x * column + 4, y: y * rowHeight + 44, width: panel.width * column - 8, height: rowHeight - 8 };
    drawn.push(drawPanel(panel, series, range, place));
    x += panel.width;
  }
  const width = 24 * column;
  const height = (y + 1) * rowHeight + 48;
  const when = `${new Date(range.start * 1000).toISOString().slice(0, 19)}Z, ${Math.round(range.end - range.start)} s`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#f4f5f7"/>`,
    `<text x="12" y="28" font-size="18" font-weight="bold" fill="#222">${title}</text>`,
    `<text x="${width - 12}" y="28" text-anchor="end" fill="#666">${when}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

async function query(prometheus: string, expr: string, legend: string, { start, end }: TimeRange): Promise<Series[]> {
  const step = Math.max(1, Math.round((end - start) / 240));
  const url = new URL('/api/v1/query_range', prometheus);
  const query = expr.replaceAll('$__rate_interval', '10s').replaceAll('$namespace', '.*');
  for (const [name, value] of Object.entries({ query, start, end, step })) url.searchParams.set(name, String(value));
  const response = await fetch(url);
  const body = (await response.json()) as {
    error?: string;
    data?: { result: { metric: Record<string, string>; values: [number, string][] }[] };
  };
  if (!body.data) throw new Error(`${expr}: ${body.error}`);
  return body.data.result.map(({ metric, values }) => ({
    name: legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ''),
    points: values.map(([at, value]) => ({ at, value: Number(value) })).filter(({ value }) => Number.isFinite(value)),
  }));
}
