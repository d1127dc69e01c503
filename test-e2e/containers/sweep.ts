import { execFileSync, spawnSync } from 'node:child_process';
import type { Docker } from './container.ts';

/** Removes what an aborted run left behind. */
export async function sweep(docker: Docker): Promise<void> {
  const isLeft = (labels: Record<string, string> | undefined): boolean => {
    const pid = labels?.['natter.e2e'];
    if (pid === undefined) return false;
    try {
      process.kill(Number(pid), 0);
      return false;
    } catch {
      return true;
    }
  };
  for (const { Id, Labels } of await docker.listContainers({ all: true }))
    if (isLeft(Labels))
      await docker
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => undefined);
  for (const { Id, Labels } of await docker.listNetworks())
    if (isLeft(Labels))
      await docker
        .getNetwork(Id)
        .remove()
        .catch(() => undefined);
  for (const { Name, Labels, Options } of (await docker.listVolumes()).Volumes ?? []) {
    if (!isLeft(Labels)) continue;
    execFileSync('docker', ['volume', 'rm', '-f', Name]);
    if (Options?.device?.startsWith('/dev/loop')) spawnSync('losetup', ['-d', Options.device]);
  }
}
