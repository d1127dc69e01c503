/** Generates `docs/settings.md`, or with `--print` shows it, from the config schemas of the processes. */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { commonConfig } from '@natter/service-kit';
import { z } from 'zod';

const root = new URL('../../', import.meta.url);
const settingsFile = fileURLToPath(new URL('docs/settings.md', root));

interface Shape {
  type?: string;
  enum?: unknown[];
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
}

/** The schemas that modules of a service export as `…Config`, by service. */
async function schemas(): Promise<Map<string, z.ZodObject>> {
  const found = new Map<string, z.ZodObject>();
  const modules: URL[] = [];
  for (const service of (await readdir(new URL('services/', root))).sort())
    for (const file of ['config.ts', 'model/config.ts', 'http/config.ts', 'service.ts', 'scheduler-service.ts'])
      modules.push(new URL(`services/${service}/src/${file}`, root));
  modules.push(new URL('deploy/canary/src/config.ts', root));
  for (const module of modules) {
    if (!existsSync(module)) continue;
    for (const [name, value] of Object.entries((await import(module.href)) as Record<string, unknown>))
      if (name.endsWith('Config') && value instanceof z.ZodObject) found.set(name.replace(/Config$/, ''), value);
  }
  return found;
}

async function settingsPage(): Promise<string> {
  const common = commonConfig.shape;
  const parts = [...(await schemas())].map(([name, schema]) => {
    const own = Object.fromEntries(Object.entries(schema.shape).filter(([key]) => !(key in common)));
    return `## ${title(name)}\n\n${table(own)}`;
  });
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

function table(shape: Record<string, unknown>): string {
  const rows = Object.entries(shape).map(([name, schema]) => {
    const described = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }) as Shape;
    const initial = described.default === undefined ? '' : `\`${String(described.default)}\``;
    const values = described.enum ? ` One of ${described.enum.map((value) => `\`${String(value)}\``).join(', ')}.` : '';
    return `| \`${name}\` | ${initial} | ${described.description ?? ''}.${values} |`;
  });
  return ['| Variable | Default | What it does |', '| --- | --- | --- |', ...rows].join('\n');
}

const title = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^./, (letter) => letter.toUpperCase());

const page = await settingsPage();
if (process.argv.includes('--print')) process.stdout.write(page);
else await writeFile(settingsFile, page);
