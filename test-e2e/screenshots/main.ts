/**
 * Takes the pictures of the web client: `npm run screenshots` starts a system with an organization of demo users,
 * and writes docs/images/*.png.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '@natter/local/chromium';
import { startSystem } from '@natter/local/system';
import { buildWebClient } from '@natter/web/build';
import { chromium } from 'playwright-core';
import { fillDemo } from './demo.ts';

const output = join(import.meta.dirname, '..', '..', 'docs', 'images');

interface Picture {
  file: string;
  viewport: { width: number; height: number };
  colorScheme: 'light' | 'dark';
}
const pictures: Picture[] = [
  { file: 'light.png', viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  { file: 'dark.png', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  { file: 'phone.png', viewport: { width: 390, height: 800 }, colorScheme: 'light' },
];

await buildWebClient();
const dataDir = await mkdtemp(join(tmpdir(), 'natter-screenshots-'));
const system = await startSystem({ dataDir, log: (line) => console.log(`screenshots: ${line}`) });
try {
  const { engineering } = await fillDemo(system);
  const browser = await chromium.launch({
    executablePath: await findChromium(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    await mkdir(output, { recursive: true });
    for (const { file, ...look } of pictures) {
      const context = await browser.newContext({ ...look, reducedMotion: 'reduce', locale: 'en-GB' });
      const page = await context.newPage();
      await page.goto(`${system.url}/channel/${engineering}/topic/release%200.2`);
      await page.locator('input[name=username]').fill(system.people.member.email);
      await page.locator('input[name=password]').fill(system.people.member.password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('Then we release on Thursday').waitFor();
      await page.evaluate('document.fonts.ready');
      await page.screenshot({ path: join(output, file), animations: 'disabled' });
      await context.close();
      console.log(`screenshots: wrote docs/images/${file}`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await system.stop();
  await rm(dataDir, { recursive: true, force: true });
}
