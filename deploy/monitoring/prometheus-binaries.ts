import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { unpackDistributionPackages } from '@natter/local/distribution-packages';

/** `prometheus` or `promtool`: from the machine, otherwise from the distribution's package, otherwise undefined. */
export async function findPrometheus(name: 'prometheus' | 'promtool'): Promise<string | undefined> {
  if (spawnSync(name, ['--version']).status === 0) return name;
  const context = { dataDir: tmpdir(), fresh: false, log: () => undefined, env: process.env };
  return (await unpackDistributionPackages(context, name, ['prometheus']))?.command;
}
