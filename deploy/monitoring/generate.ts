/** Generates Grafana's JSON: `npm run ts deploy/monitoring/generate.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dashboard, dashboards, type Panel } from './dashboard-definitions.ts';

export const fileOf = ({ uid }: Dashboard): string =>
  join(import.meta.dirname, '..', 'helm', 'natter', 'files', 'dashboards', `${uid.replace('natter-', '')}.json`);

export function grafana({ uid, title, panels }: Dashboard): string {
  let x = 0;
  let y = 0;
  const placed = panels.map((panel, index) => {
    if (x + panel.width > 24) {
      x = 0;
      y += 8;
    }
    const gridPos = { x, y, w: panel.width, h: 8 };
    x += panel.width;
    return { id: index + 1, gridPos, ...grafanaPanel(panel) };
  });
  const dashboard = {
    uid,
    title,
    tags: ['natter'],
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
        {
          name: 'namespace',
          type: 'query',
          label: 'Namespace',
          datasource: { type: 'prometheus', uid: '$datasource' },
          query: { query: 'label_values(natter_nats_up, namespace)', refId: 'namespace' },
          refresh: 2,
          sort: 1,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: ['All'], value: ['$__all'] },
        },
      ],
    },
    links: [{ type: 'dashboards', tags: ['natter'], title: 'Natter', asDropdown: true }],
    panels: placed,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function grafanaPanel({ title, description, unit, kind, queries, alarmAbove }: Panel): Record<string, unknown> {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  const steps = [
    { color: 'green', value: null },
    ...(alarmAbove === undefined ? [] : [{ color: 'red', value: alarmAbove + 0.000001 }]),
  ];
  return {
    type: kind === 'stat' ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        custom: kind === 'graph' ? { fillOpacity: 8, lineWidth: 1 } : {},
      },
      overrides: [],
    },
    options:
      kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'background' }
        : { legend: { displayMode: 'list' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}

if (process.argv[1] === import.meta.filename)
  for (const dashboard of dashboards) writeFileSync(fileOf(dashboard), grafana(dashboard));
