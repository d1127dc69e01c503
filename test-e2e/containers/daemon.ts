/** A Docker daemon: a running one, or, for root on Debian and derivatives, one installed and started from packages. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Daemon =
  /** `stop` stops a daemon that was started here, and leaves another alone. Images are kept for the next run. */
  { answers: true; stop(): Promise<void> } | { answers: false; reason: string };

export async function findDaemon(log: (line: string) => void): Promise<Daemon> {
  if (await answers()) return { answers: true, stop: async () => undefined };
  if (process.env.DOCKER_HOST) return missing(`nothing answers at DOCKER_HOST ${process.env.DOCKER_HOST}`);
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return missing('no Docker daemon answers, and only root on Linux can start one');
  try {
    if (!existsSync('/usr/sbin/dockerd') && !existsSync('/usr/bin/dockerd')) {
      if (!existsSync('/usr/bin/apt-get'))
        return missing('no Docker daemon answers, and there is no apt-get to get one');
      log('installing docker.io from the distribution');
      await install();
    }
    log('starting dockerd');
    const output = openSync(join(tmpdir(), 'natter-dockerd.log'), 'a');
    const dockerd = spawn('dockerd', [], { stdio: ['ignore', output, output], detached: true });
    const ended = new Promise<void>((resolve) => dockerd.once('exit', () => resolve()).once('error', () => resolve()));
    dockerd.unref();
    const stop = async (): Promise<void> => {
      dockerd.kill('SIGTERM');
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20_000))]);
    };
    for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
      if (await answers()) return { answers: true, stop };
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await stop();
    return missing(`dockerd was started and does not answer: see ${join(tmpdir(), 'natter-dockerd.log')}`);
  } catch (error) {
    return missing(`no Docker daemon could be brought: ${error instanceof Error ? error.message.trim() : error}`);
  }
}

const missing = (reason: string): Daemon => ({ answers: false, reason });

const answers = (): Promise<boolean> =>
  run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );

async function install(): Promise<void> {
  const apt = (...args: string[]) =>
    run('apt-get', ['-q', '-o', 'APT::Sandbox::User=', ...args], {
      timeout: 300_000,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', 'docker.io', 'iptables');
}
