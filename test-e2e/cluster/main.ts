/**
 * The chart on the cluster that KUBECONFIG names: an installation by the notes, a load through upgrades, rollbacks and
 * faults, scaling by metrics, and a backup. `npm run test:cluster -- [notes] [faults] [scale] [backup] [lost-node]` runs these
 * parts, or all of them.
 *
 * NATTER_IMAGE names an image that the cluster can pull; NATTER_PREVIOUS_IMAGE and NATTER_PREVIOUS_CHART the release to
 * upgrade from; NATTER_NAMESPACE an installation to go on with, which stays; NATTER_LOSE_NODE a command that ends a node,
 * given its name; NATTER_POSTGRES_IMAGE, NATTER_REDIS_IMAGE and NATTER_NATS_IMAGE the servers of evaluation mode.
 */
import { spawnSync } from 'node:child_process';
import { helm as packagedHelm } from '@natter/helm';
import { backup } from './backup.ts';
import { faults } from './faults.ts';
import { helm, kubectl, namespace, run, step } from './kubernetes.ts';
import { lostNode } from './lost-node.ts';
import { notes } from './notes.ts';
import { isInstalled } from './release.ts';
import { scale } from './scale.ts';

const parts = { notes, faults, scale, backup, 'lost-node': lostNode };
const isKept = process.env.NATTER_NAMESPACE !== undefined;
const chosen = process.argv.slice(2);

const reason = missing();
if (reason !== undefined) {
  console.log(`\nSKIPPED: the tests on a cluster: ${reason}\n`);
  process.exit(0);
}
let code = 1;
try {
  kubectl(['create', 'namespace', namespace], { mayFail: true });
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    step(`part ${name}${isInstalled() ? ', on an existing installation' : ', from nothing'}`);
    await part();
  }
  step('done');
  code = 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(kubectl(['get', 'pods', '-o', 'wide'], { mayFail: true }));
  console.error(kubectl(['get', 'events', '--sort-by=.lastTimestamp'], { mayFail: true }));
} finally {
  if (!isKept && process.env.NATTER_KEEP === undefined) {
    helm(['uninstall', 'natter'], { mayFail: true });
    run('kubectl', ['delete', 'namespace', namespace, '--wait=false'], { mayFail: true });
  }
}
process.exit(code);

function missing(): string | undefined {
  if (!process.env.KUBECONFIG) return 'KUBECONFIG names no cluster';
  if (packagedHelm === undefined) return 'there is no helm binary';
  if (spawnSync('kubectl', ['version', '--client']).status !== 0) return 'there is no kubectl';
  if (!process.env.NATTER_IMAGE) return 'NATTER_IMAGE names no image that the cluster can pull';
  const unknown = chosen.find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) return `there is no part "${unknown}"`;
  return undefined;
}
