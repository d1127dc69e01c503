/** A load process: receives jobs over IPC, and returns its results and CPU usage. */
import { runClosed } from './closed.ts';
import { type Following, startFollowing } from './follow.ts';
import type { FromWorker, ToWorker } from './job.ts';
import { runPaced } from './paced.ts';

const followings = new Map<number, Following>();
const answer = (message: FromWorker): void => void process.send?.(message);

process.on('disconnect', () => process.exit());
process.on('message', (message: ToWorker) => {
  void handle(message).catch((error: unknown) => answer({ id: message.id, error: String(error) }));
});

async function handle(message: ToWorker): Promise<void> {
  const { id } = message;
  if ('job' in message) {
    const { job } = message;
    if (job.kind === 'follow') return void followings.set(id, startFollowing(job));
    const result = job.kind === 'closed' ? await runClosed(job) : await runPaced(job);
    return answer({ id, result });
  }
  const following = followings.get(id);
  if (!following) throw new Error(`no job ${id}`);
  if ('ask' in message)
    return answer(
      message.ask === 'progress' ? { id, progress: following.progress() } : { id, result: following.results() },
    );
  followings.delete(id);
  answer({ id, result: following.stop() });
}
