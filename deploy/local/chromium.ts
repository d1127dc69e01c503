/** Finds Chromium for tests of the web client; as root on Debian, installs it from the distribution's packages. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const candidates = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const folders = ['/usr/bin', '/usr/local/bin', '/opt/google/chrome'];

/** The path of a browser that runs. */
export async function findChromium(): Promise<string> {
  const found = installed();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    await run('apt-get', ['update'], { timeout: 120_000 });
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
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
