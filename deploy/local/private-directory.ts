import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from './repository-root.ts';

/**
 * Creates a directory for secrets that only its owner can enter, and restricts one that an earlier release left open.
 */
export async function privateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}

/**
 * A path inside `.natter/`, which this creates or restricts: everything that a checkout keeps lies there, and nothing else
 * names it, so no other program creates it open to other users. Never fails: in a checkout of another user it stays as it
 * is, and what is written there fails.
 */
export function localDirectory(...inside: string[]): string {
  const directory = join(repositoryRoot, '.natter');
  try {
    mkdirSync(directory, { mode: 0o700, recursive: true });
    if (statSync(directory).uid === process.getuid?.()) chmodSync(directory, 0o700);
  } catch {}
  return join(directory, ...inside);
}
