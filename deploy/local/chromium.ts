/** Finds Chromium for tests of the web client; as root on Debian, installs it from the distribution's packages. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { aptGet } from './distribution-packages.ts';

/** The build without windows comes first: with it, the tests of the web client take less than half of the CPU time. */
const candidates = [
  'chromium-headless-shell',
  ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
];
const folders = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome'];

/** The path of a browser that runs. */
export async function findChromium(): Promise<string> {
  const found = installed();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    await aptGet(['update']);
    const patient = ['-o', 'DPkg::Lock::Timeout=600'];
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const install = (name: string) => aptGet([...patient, 'install', '-y', '--no-install-recommends', name], env);
    // Some distributions have no package of the headless shell.
    await install('chromium-headless-shell').catch(() => install('chromium'));
  }
  const path = installed();
  if (path === undefined) throw new Error('No Chromium was found: install it (`apt-get install chromium`)');
  return path;
}

/** A wrapper script that only asks for another package does not count. */
const installed = (): string | undefined =>
  folders
    .flatMap((folder) => candidates.map((name) => `${folder}/${name}`))
    .find((path) => existsSync(path) && spawnSync(path, ['--version'], { timeout: 30_000 }).status === 0);
