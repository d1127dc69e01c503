import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const print = async (option: string): Promise<string> => {
  const script = new URL('settings-page.ts', import.meta.url).pathname;
  return (await promisify(execFile)(process.execPath, [script, option])).stdout;
};

test('the settings page lists the settings that the processes read (npm run docs generates it)', async () => {
  const page = await print('--print');
  expect(await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8')).toBe(page);
  for (const name of ['WEB_PUBLIC_STREAMS_ENABLED', 'INVITATION_LINK_VALIDITY_MINUTES', 'NATTER_RATE_LIMIT'])
    expect(page).toContain(`\`${name}\``);
});

test('the chart accepts the settings that the processes accept (npm run docs makes its schema)', async () => {
  const file = new URL('../helm/natter/values.schema.json', import.meta.url);
  const schema = await print('--print-chart');
  expect(await readFile(file, 'utf8')).toBe(schema);
  const { properties } = JSON.parse(schema).properties.settings;
  expect(properties).toMatchObject({
    NATTER_BODY_MEMORY_MIB: { type: 'integer', minimum: 16 },
    NATTER_MAX_UPLOAD_MIB: { type: 'integer', minimum: 1, maximum: 1_024 },
    NATTER_QUIET_LAG_MS: { type: 'number', exclusiveMinimum: 0 },
    NATTER_SCHEDULED_MAX_LATENESS_SECONDS: { type: 'integer', minimum: 0 },
    NATTER_TRACE_RATIO: { type: 'number', minimum: 0, maximum: 1 },
    WEB_PUBLIC_STREAMS_ENABLED: { type: 'boolean' },
  });
});
