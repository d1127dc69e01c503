import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { settingsFile, settingsPage } from './settings-page.ts';

test('the page of settings is what the processes read (npm run docs makes it)', async () => {
  const page = await settingsPage();
  expect(await readFile(settingsFile, 'utf8')).toBe(page);
  for (const name of ['WEB_PUBLIC_STREAMS_ENABLED', 'INVITATION_LINK_VALIDITY_MINUTES', 'NATTER_RATE_LIMIT'])
    expect(page).toContain(`\`${name}\``);
});
