import { chmod, mkdir } from 'node:fs/promises';

/**
 * Creates a directory for secrets that only its owner can enter, and restricts one that an earlier release left open.
 */
export async function privateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}
