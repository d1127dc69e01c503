import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unpinnedImages } from './images.ts';
import { isAllowed } from './licences.ts';

const root = mkdtempSync(join(tmpdir(), 'natter-audit-'));
afterAll(() => rmSync(root, { recursive: true }));

test('a licence is allowed by one of its alternatives, and only with all that hold together', () => {
  expect(isAllowed('a', 'MIT')).toBe(true);
  expect(isAllowed('a', '(GPL-3.0-only OR MIT)')).toBe(true);
  expect(isAllowed('a', 'MIT AND GPL-3.0-only')).toBe(false);
  expect(isAllowed('a', 'AGPL-3.0-only')).toBe(false);
  expect(isAllowed('a', 'none')).toBe(false);
});

test('an image without a digest is found wherever the deployment names one', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  mkdirSync(join(root, 'deploy', 'helm', 'natter'), { recursive: true });
  writeFileSync(
    join(root, 'deploy', 'compose.yaml'),
    `services:\n  a:\n    image: \${A:-one:1}\n  b:\n    image: two:2@${digest}\n`,
  );
  writeFileSync(join(root, 'deploy', 'Dockerfile'), 'ARG BASE=three:3\nFROM other:5\n');
  writeFileSync(join(root, 'deploy', 'helm', 'natter', 'values.yaml'), 'evaluation:\n  redisImage: four:4\n');
  const found = unpinnedImages(root).map(({ image }) => image);
  expect(found.sort()).toEqual(['four:4', 'one:1', 'other:5', 'three:3']);
});
