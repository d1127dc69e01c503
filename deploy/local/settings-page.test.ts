import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the page of settings is what the processes read (npm run docs makes it)', async () => {
  const script = new URL('settings-page.ts', import.meta.url).pathname;
  const { stdout: page } = await promisify(execFile)(process.execPath, [script, '--print']);
  expect(await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8')).toBe(page);
  for (const name of ['WEB_PUBLIC_STREAMS_ENABLED', 'INVITATION_LINK_VALIDITY_MINUTES', 'NATTER_RATE_LIMIT'])
    expect(page).toContain(`\`${name}\``);
});
