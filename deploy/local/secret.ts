/** A random password that stays the same for one data directory. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

export async function keptSecret(file: string): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '') return kept;
  const secret = randomBytes(18).toString('base64url');
  await writeFile(file, secret, { mode: 0o600 });
  return secret;
}
