import type { TestProject } from 'vitest/node';
import { findDaemon } from './daemon.ts';
import { bringImages, type Images } from './images.ts';

declare module 'vitest' {
  interface ProvidedContext {
    containers: { images: Images | undefined; skipped: string | undefined; seed: number };
  }
}

/** Provides a daemon and images, or prints why there are none. Returns a function that stops the daemon. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const log = (line: string): void => console.log(`e2e: ${line}`);
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const daemon = await findDaemon(log);
  if (!daemon.answers) {
    console.log(`\nSKIPPED: the tests in containers: ${daemon.reason}\n`);
    project.provide('containers', { images: undefined, skipped: daemon.reason, seed });
    return undefined;
  }
  const images = await bringImages(log);
  log(`images: ${Object.values(images).join(', ')}`);
  project.provide('containers', { images, skipped: undefined, seed });
  return daemon.stop;
}
