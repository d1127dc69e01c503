/**
 * Generates `docs/settings.md` and the settings in the chart's schema of values from the config schemas of the processes.
 * `--print` and `--print-chart` show them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { commonConfig } from '@natter/service-kit';
import type { z } from 'zod';
import { chartSettings, withSettings } from './chart-settings.ts';
import { settingsByService, shapeOfSetting } from './setting-schemas.ts';

const pageFile = new URL('../../docs/settings.md', import.meta.url);
const chartFile = new URL('../helm/natter/values.schema.json', import.meta.url);

const common: Record<string, z.ZodType> = commonConfig.shape;
const byService = await settingsByService();

function settingsPage(): string {
  const parts = [...byService].map(([name, settings]) => `## ${title(name)}\n\n${table(settings)}`);
  return `# Settings

Processes read their settings from the environment, check them at the start and log them with secrets left out. This page
is made from the same schemas by \`npm run docs\`.

## Every process

${table(common)}

${parts.join('\n\n')}

## \`npm start\`

| Variable | Default | What it does |
| --- | --- | --- |
| \`NATTER_HTTP_PORT\` | \`9991\` | Port of the API |
| \`NATTER_EXTERNAL_URL\` | the URL of \`npm start\` | Origin of links to the default realm, where clients reach it under another one |
| \`NATTER_POSTGRES_URL\`, \`NATTER_REDIS_URL\`, \`NATTER_NATS_URL\` | | A server that is there already, with administrator's credentials |
| \`NATTER_POSTGRES_IMAGE\`, \`NATTER_REDIS_IMAGE\`, \`NATTER_NATS_IMAGE\` | \`postgres:18\`, \`redis:7\`, \`nats:2\` | Images, where servers come from Docker |

All settings above are handed on to the services.
`;
}

function table(settings: Record<string, z.ZodType>): string {
  const rows = Object.entries(settings).map(([name, schema]) => {
    const described = shapeOfSetting(schema);
    const initial = described.default === undefined ? '' : `\`${String(described.default)}\``;
    const values = described.enum ? ` One of ${described.enum.map((value) => `\`${String(value)}\``).join(', ')}.` : '';
    return `| \`${name}\` | ${initial} | ${described.description ?? ''}.${values} |`;
  });
  return ['| Variable | Default | What it does |', '| --- | --- | --- |', ...rows].join('\n');
}

const title = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^./, (letter) => letter.toUpperCase());

const chart = withSettings(await readFile(chartFile, 'utf8'), chartSettings([common, ...byService.values()]));
if (process.argv.includes('--print')) process.stdout.write(settingsPage());
else if (process.argv.includes('--print-chart')) process.stdout.write(chart);
else {
  await writeFile(pageFile, settingsPage());
  await writeFile(chartFile, chart);
}
