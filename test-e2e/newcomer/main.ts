/**
 * Walks the path of a newcomer in a bare Debian that has git, curl, Node and npm alone: pastes the commands of README.md,
 * from the clone to a bot that answers, and prints the times. `npm run test:newcomer -- [--node 20|22|24]`, as root, on
 * Linux with debootstrap. What is committed is cloned. A command that fails ends the walk with 1. Packages are cached
 * from the second walk on, under `.natter/newcomer`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { localDirectory } from '@natter/local/private-directory';
import { bareMachine, type Machine, releases, rememberPackages } from './machine.ts';
import { walk } from './walk.ts';

const repositoryRoot = join(import.meta.dirname, '..', '..');
const inside = 'NATTER_NEWCOMER_INSIDE';

if (process.env[inside]) process.exitCode = await main();
else {
  // Mounts and processes of the walk end with it, also when it is killed.
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const { status, error } = spawnSync('unshare', [...namespaces, process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, [inside]: '1' },
    stdio: 'inherit',
  });
  if (error) console.error(error.message);
  process.exitCode = status ?? 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { node: { type: 'string', default: '20' } } });
  const release = Number(values.node);
  if (!releases.includes(release)) throw new Error(`--node is one of ${releases.join(', ')}`);
  if (await isTaken(9991)) throw new Error('port 9991, which the commands name, is in use');
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const address = /git clone (https:\S+)/.exec(readme)?.[1];
  if (address === undefined) throw new Error('README.md does not say how to clone');
  const kept = join(localDirectory(), 'newcomer');
  let machine: Machine | undefined;
  try {
    machine = bareMachine(kept, release, repositoryRoot, address);
    const times = await walk(machine, readme);
    rememberPackages(kept);
    console.log(
      `\nNode ${release}, ${availableParallelism()} cores, packages cached: ${machine.isWarm ? 'yes' : 'no'}`,
    );
    for (const { what, seconds, goal } of times) console.log(`${seconds.toFixed(1).padStart(7)} s  ${what}${goal}`);
    return 0;
  } catch (error) {
    console.error((error as Error).message);
    return 1;
  } finally {
    machine?.remove();
  }
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy());
  });
}
