import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { commonConfig } from '@natter/service-kit';
import { expect, test } from 'vitest';
import { settingsByService, shapeOfSetting } from './setting-schemas.ts';

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
    NATTER_RETENTION_INTERVAL_SECONDS: { type: 'integer', minimum: 1, maximum: 20 * 86_400 },
    NATTER_SCHEDULED_MAX_LATENESS_SECONDS: { type: 'integer', minimum: 0 },
    NATTER_TRACE_RATIO: { type: 'number', minimum: 0, maximum: 1 },
    WEB_PUBLIC_STREAMS_ENABLED: { type: 'boolean' },
  });
});

test('every setting that is a time has a maximum, below which no timer or date overflows', async () => {
  const unitMs: Record<string, number> = { MS: 1, SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 };
  const all = [commonConfig.shape, ...(await settingsByService()).values()].flatMap((each) => Object.entries(each));
  const times = all.flatMap(([name, schema]) => {
    const unit = unitMs[name.split('_').at(-1) ?? ''];
    return unit === undefined
      ? []
      : [{ name, years: ((shapeOfSetting(schema, 'output').maximum ?? 0) * unit) / 31_536e6 }];
  });
  expect(times.length).toBeGreaterThan(10);
  for (const { name, years } of times) {
    expect(years, name).toBeGreaterThan(0);
    expect(years, name).toBeLessThanOrEqual(50);
  }
});
