/**
 * An installation as a new operator makes it: the chart with its defaults, then the commands of the notes as they are
 * printed. Afterwards an uninstall, an install over what it kept, and a second release in the same namespace.
 */
import { spawnSync } from 'node:child_process';
import { messagesOf, type User } from './client.ts';
import { environment, helm, kubectl, namespace, step, until } from './kubernetes.ts';
import { current, isInstalled, objectsOf, plainValues, serverPods, testValues, upgrade } from './release.ts';

export async function notes(): Promise<void> {
  if (isInstalled()) {
    const servers = serverPods();
    upgrade(current, plainValues(current));
    if (serverPods() !== servers) throw new Error('an upgrade with the same servers replaced their pods');
    return;
  }
  const began = Date.now();
  step('helm install --wait');
  upgrade(current, plainValues(current));
  step('helm test before the first realm');
  const before = doctorBeforeRealm();
  if (!before.includes('there is no realm for this host')) throw new Error(`helm test does not say why: ${before}`);
  step('the commands of the notes');
  const owner = followNotes();
  console.log(`first message ${Math.round((Date.now() - began) / 1_000)} s after the start of the install`);
  step('uninstall, and what it leaves');
  helm(['uninstall', 'natter']);
  const kept = ['persistentvolumeclaims/data-natter-postgres-0', 'pods/natter-doctor', 'secrets/natter-evaluation'];
  await until('the end of the pods', 120, () => objectsOf('natter').length <= kept.length);
  const left = objectsOf('natter').sort().join(' ');
  if (left !== kept.join(' ')) throw new Error(`uninstall left ${left}`);
  step('install over what was kept');
  upgrade(current, testValues(current));
  if (!messagesOf(owner).includes('Hello')) throw new Error('the first message is gone');
  step('a second release in the namespace');
  upgrade(current, small(testValues(current)), 'second');
  helm(['uninstall', 'second']);
  kubectl(['delete', 'secret/second-natter-evaluation', 'pvc/data-second-natter-postgres-0']);
  console.log(`a release of ${namespace} stays installed`);
}

/** One replica of each service. */
const small = ({ defaults, ...values }: Record<string, unknown>): Record<string, unknown> => ({
  ...values,
  defaults: { ...(defaults as object), replicas: 1 },
});

/** Commands are indented by five spaces, under a numbered line for each step. */
function commandsOf(notes: string): string[] {
  const steps: string[][] = [];
  for (const line of notes.split('\n')) {
    if (/^\d+\. /.test(line)) steps.push([]);
    else if (line.startsWith('     ')) steps.at(-1)?.push(line.slice(5));
    else if (line !== '' && steps.length > 0) break;
  }
  return steps.map((lines) => lines.join('\n'));
}

/** Pastes all steps into one shell. Returns the owner's email and key, which the notes have the shell keep. */
function followNotes(): User {
  const notes = helm(['get', 'notes', 'natter']);
  const script = ["trap 'kill %1' EXIT", ...commandsOf(notes), 'echo "owner=$OWNER key=$KEY"'].join('\n');
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-m', '-c', script], {
    encoding: 'utf8',
    env: environment,
    timeout: 600_000,
  });
  const [, email = '', key = ''] = /owner=(\S+) key=(\S+)/.exec(stdout) ?? [];
  const results = [...stdout.matchAll(/"result":"(\w+)"/g)].map(([, result]) => result);
  const isSent = results.join(' ') === 'success success';
  if (status !== 0 || !isSent || key === '') throw new Error(`the notes do not work:\n${script}\n${stdout}${stderr}`);
  return { email, key };
}

/** Checks the output of `helm test` before the first realm exists. */
function doctorBeforeRealm(): string {
  const text = helm(['test', 'natter', '--logs', '--timeout', '3m'], { mayFail: true });
  // A failed hook prints no logs with some versions of helm.
  return `${text}${kubectl(['logs', 'natter-doctor'], { mayFail: true })}`;
}
