/**
 * A dump by the CronJob, the loss of everything but its claim, and the restore by one `helm install`. Messages of the
 * time before the dump are there, old queues end, and no id is given twice.
 */
import { messagesOf, request, send } from './client.ts';
import { helm, json, kubectl, step } from './kubernetes.ts';
import { createUser } from './load.ts';
import { current, ensureRealm, isHealthy, testValues, upgrade } from './release.ts';

export async function backup(): Promise<void> {
  const { NATTER_POSTGRES_IMAGE } = process.env;
  const image = NATTER_POSTGRES_IMAGE ? { image: NATTER_POSTGRES_IMAGE } : {};
  // Reads what is on the claim as a program that copies it would.
  const program = "const fs = require('node:fs'); console.log('to copy:', fs.readdirSync('/backup').join(' '))";
  const copy = { image: current.image, command: ['/usr/local/bin/node', '-e', program] };
  const values = { ...testValues(current), backup: { enabled: true, copy, ...image }, doctor: { enabled: true } };
  upgrade(current, values);
  ensureRealm();
  const user = createUser();
  const old = request(user, 'POST', '/register', { event_types: '["message"]' }).queue_id ?? '';
  send(user, 'before the backup');
  step('the jobs of the CronJobs');
  console.log(runJob('doctor'));
  const copied = runJob('backup');
  console.log(copied);
  if (!/\.dump/.test(copied) || !/\.roles\.sql/.test(copied)) throw new Error('the copy of the backup has no dump');
  const last = send(user, 'after the backup');
  step('everything is lost but the claim of the backups');
  helm(['uninstall', 'natter']);
  kubectl(['delete', 'secret/natter-evaluation', 'pvc/data-natter-postgres-0']);
  step('helm install with backup.restore=latest');
  const restoring = { ...values, backup: { ...values.backup, restore: 'latest' } };
  upgrade(current, restoring);
  const contents = messagesOf(user);
  if (!contents.includes('before the backup')) throw new Error('the message before the backup is gone');
  if (contents.includes('after the backup')) throw new Error('the database is not the restored one');
  const poll = request(user, 'GET', '/events', { queue_id: old, last_event_id: '-1', dont_block: 'true' });
  if (poll.code !== 'BAD_EVENT_QUEUE_ID') throw new Error(`the old queue was answered ${JSON.stringify(poll)}`);
  const next = send(user, 'after the restore');
  if (next <= last) throw new Error(`message ${next} was sent after message ${last}`);
  step('an upgrade with the same values restores nothing again');
  upgrade(current, restoring);
  if (!messagesOf(user).includes('after the restore')) throw new Error('an upgrade restored again');
  if (!isHealthy()) throw new Error('the doctor has a finding after the restore');
}

/** Runs the Job of a CronJob now, and returns what it printed. */
function runJob(name: string): string {
  const job = `${name}-${Date.now()}`;
  // `kubectl create job --from` does not know the CronJobs of clusters before 1.21.
  const { spec } = json<{ spec: { jobTemplate: { spec: object } } }>(['get', 'cronjob', `natter-${name}`]);
  const object = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: job }, spec: spec.jobTemplate.spec };
  kubectl(['apply', '-f', '-'], { input: JSON.stringify(object) });
  try {
    kubectl(['wait', `job/${job}`, '--for=condition=Complete', '--timeout=180s']);
    return kubectl(['logs', `job/${job}`, '--all-containers']);
  } catch (error) {
    const logs = kubectl(['logs', `job/${job}`], { mayFail: true });
    throw new Error(`${error instanceof Error ? error.message : error}\n${logs}`);
  } finally {
    kubectl(['delete', 'job', job, '--wait=false'], { mayFail: true });
  }
}
