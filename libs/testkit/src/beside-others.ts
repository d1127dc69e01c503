import type { Answer } from './client.ts';
import { openRealm } from './realm.ts';

/** Sends a costly request while a user of another realm repeats one to the same service, which always succeeds. */
export async function besideOthers<R>(path: string, send: () => Promise<R>): Promise<R> {
  const { member } = await openRealm();
  let isDone = false;
  const answered = send().finally(() => {
    isDone = true;
  });
  const ask = async (): Promise<void> => {
    while (!isDone) requireSuccess(await member.get(path));
  };
  const [answer] = await Promise.all([answered, ask()]);
  return answer;
}

function requireSuccess({ status, body }: Answer): void {
  if (status !== 200) throw new Error(`Another realm got ${status} ${body.code}`);
}
