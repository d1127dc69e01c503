/**
 * Takes the pictures of the web client: `npm run screenshots` starts a system with an organization of demo users,
 * and writes docs/images/*.png.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openWeb } from '../web-visit.ts';
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

const web = await openWeb({ log: (line) => console.log(`screenshots: ${line}`) });
try {
  const { engineering } = await fillDemo(web.system);
  await mkdir(output, { recursive: true });
  for (const { file, ...look } of pictures) {
    const path = `/channel/${engineering}/topic/release%200.2`;
    const { page } = await web.visit('member', path, { ...look, reducedMotion: 'reduce', locale: 'en-GB' });
    await page.getByText('Then we release on Thursday').waitFor();
    await page.evaluate('document.fonts.ready');
    await page.screenshot({ path: join(output, file), animations: 'disabled' });
    await page.context().close();
    console.log(`screenshots: wrote docs/images/${file}`);
  }
} finally {
  await web.close();
}
