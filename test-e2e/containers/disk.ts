/** A volume that can fill up: a loop device with ext4 if root can create one, otherwise tmpfs. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Disk {
  volume: string;
  medium: string;
  remove(): Promise<void>;
}

export async function makeDisk(volume: string, megabytes: number, labels: string[]): Promise<Disk> {
  const create = (...options: string[]) =>
    run('docker', [
      'volume',
      'create',
      ...labels.flatMap((label) => ['--label', label]),
      ...options.flatMap((o) => ['--opt', o]),
      volume,
    ]);
  const removeVolume = (): Promise<unknown> => run('docker', ['volume', 'rm', '-f', volume]).catch(() => undefined);
  const directory = await mkdtemp(join(tmpdir(), 'natter-disk-'));
  const file = join(directory, 'disk');
  try {
    await run('truncate', ['-s', `${megabytes}M`, file]);
    await run('mkfs.ext4', ['-q', '-m', '0', file]);
    const device = (await run('losetup', ['-f', '--show', file])).stdout.trim();
    await create('type=ext4', `device=${device}`);
    return {
      volume,
      medium: `ext4 on ${device}`,
      remove: async () => {
        await removeVolume();
        await run('losetup', ['-d', device]).catch(() => undefined);
        await rm(directory, { recursive: true, force: true });
      },
    };
  } catch {
    await rm(directory, { recursive: true, force: true });
    await create('type=tmpfs', 'device=tmpfs', `o=size=${megabytes}m`);
    return { volume, medium: 'memory', remove: async () => void (await removeVolume()) };
  }
}
