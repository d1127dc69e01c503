import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadedPart } from './strip.ts';

test.skipIf(process.platform !== 'linux')('Node without its symbols is smaller, runs, and loads native modules', () => {
  const whole = readFileSync(process.execPath);
  const loaded = loadedPart(whole);
  // 126.6 MB with symbols: by far the largest part of the image.
  expect(loaded.length).toBeLessThan(110e6);
  const directory = mkdtempSync(join(tmpdir(), 'natter-strip-'));
  try {
    const node = join(directory, 'node');
    writeFileSync(node, loaded, { mode: 0o755 });
    const argon2 = join(import.meta.dirname, 'node_modules', '@node-rs', 'argon2');
    const program = `
      const { hashSync } = require(${JSON.stringify(argon2)});
      console.log(process.version, hashSync('x').slice(0, 9), new Intl.DateTimeFormat('de', { month: 'long' }).format(0));`;
    const options = { encoding: 'utf8', env: {} } as const;
    expect(execFileSync(node, ['-e', program], options).trim()).toBe(`${process.version} $argon2id Januar`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a file that is not a complete program is rejected', () => {
  expect(() => loadedPart(Buffer.from('#!/bin/sh\n'))).toThrow('not a 64-bit');
  expect(() => loadedPart(readFileSync(process.execPath).subarray(0, 1e6))).toThrow('cut off');
});
