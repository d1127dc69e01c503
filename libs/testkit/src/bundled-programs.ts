import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundlePrograms } from '@natter/docker';

/**
 * Vitest's global setup: systems of tests run the services and commands as the image does. More than a hundred systems
 * start in a run, and a bundled process starts in half of the CPU time.
 */
export default async function setup(): Promise<void> {
  if (process.env.NATTER_TEST_BUNDLE !== undefined) return;
  const directory = await mkdtemp(join(tmpdir(), 'natter-programs-'));
  // Not done in a teardown function, because Vitest skips the remaining teardowns if one fails.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  process.env.NATTER_TEST_BUNDLE = await bundlePrograms(join(directory, 'app'));
  process.env.NODE_COMPILE_CACHE = join(directory, 'compiled');
}
