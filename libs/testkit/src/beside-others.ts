import { openRealm } from './realm.ts';

/**
 * Sends a costly request while a user of another realm repeats one to the same service, which succeeds.
 * `few-repetitions.ts` limits how many of them may need a second attempt.
 */
export async function besideOthers<R>(path: string, send: () => Promise<R>): Promise<R> {
  const { member } = await openRealm();
  let isDone = false;
  const answered = send().finally(() => {
    isDone = true;
  });
  const ask = async (): Promise<void> => {
    while (!isDone) await member.ok('GET', path);
  };
  const [answer] = await Promise.all([answered, ask()]);
  return answer;
}
