import { execFileSync } from 'node:child_process';

/**
 * Returns the output of the image's own command, so that image and credentials match. The command line of `docker` has only the
 * names of the secrets: other users can read it, and an error of execFileSync quotes it.
 */
export function credentialsOf(image: string, secrets: Record<string, string>, args: readonly string[]): string {
  const names = Object.keys(secrets).flatMap((name) => ['-e', name]);
  return execFileSync('docker', ['run', '--rm', ...names, image, 'credentials', ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...secrets },
  });
}
