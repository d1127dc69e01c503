import { readFile } from 'node:fs/promises';
import { expect, inject } from 'vitest';

/** The key in a mail, which is available shortly after it was sent. */
export async function mailedKey(email: string): Promise<string> {
  let key = '';
  const look = async (): Promise<string> => {
    const lines = (await readFile(inject('natterLog'), 'utf8')).split('\n').filter((line) => line.includes(email));
    key = lines.flatMap((line) => /accounts\/do_confirm\/([a-z0-9]+)/.exec(line)?.[1] ?? [])[0] ?? '';
    return key;
  };
  await expect.poll(look, { interval: 250 }).not.toBe('');
  return key;
}
