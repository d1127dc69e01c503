import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRunLog } from './run-log.ts';

test('the log file contains the lines in order', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'natter-test-')), 'log');
  const log = openRunLog(path);
  log.write('first');
  log.write('second');
  await new Promise<void>((resolve) => log.end('last\n', resolve));
  expect(await readFile(path, 'utf8')).toBe('first\nsecond\nlast\n');
});

test.skipIf(!existsSync('/dev/full'))('a full disk loses log lines but does not end the process', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'natter-test-')), 'log');
  await symlink('/dev/full', path);
  const log = openRunLog(path, 10);
  log.write('this has no room');
  // The disk has room again.
  await rm(path);
  await expect
    .poll(async () => {
      log.write('this has room');
      return readFile(path, 'utf8').catch(() => '');
    })
    .toContain('this has room');
});
