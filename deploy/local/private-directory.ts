import { chmod, mkdir } from 'node:fs/promises';

/** Makes a directory that holds secrets: nobody but its owner enters it, also where an earlier release left it open. */
export async function privateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
}
