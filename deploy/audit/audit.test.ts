import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unpinnedImages } from './images.ts';
import { isAllowed } from './licences.ts';
import { summaryOf } from './summary.ts';

const root = mkdtempSync(join(tmpdir(), 'natter-audit-'));
afterAll(() => rmSync(root, { recursive: true }));

test('a licence with OR needs one allowed alternative, and a licence with AND needs all parts to be allowed', () => {
  expect(isAllowed('a', 'MIT')).toBe(true);
  expect(isAllowed('a', '(GPL-3.0-only OR MIT)')).toBe(true);
  expect(isAllowed('a', 'MIT AND GPL-3.0-only')).toBe(false);
  expect(isAllowed('a', 'AGPL-3.0-only')).toBe(false);
  expect(isAllowed('a', 'none')).toBe(false);
});

test('the audit finds every image that the deployment names without a digest', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  mkdirSync(join(root, 'deploy', 'helm', 'natter', 'templates'), { recursive: true });
  writeFileSync(
    join(root, 'deploy', 'compose.yaml'),
    `services:\n  a:\n    image: \${A:-one:1}\n  b:\n    image: two:2@${digest}\n`,
  );
  writeFileSync(
    join(root, 'deploy', 'Dockerfile'),
    `ARG BASE=three:3
FROM --platform=linux/amd64 other:5 AS build
from lower:6 as second
FROM pinned:7@${digest} AS third
COPY --from=tool:8 /tool /tool
COPY --from=build --chown=1 /x /x
COPY --from=0 /y /y
FROM build
FROM scratch
FROM \${BASE} AS last
`,
  );
  writeFileSync(
    join(root, 'deploy', 'helm', 'natter', 'values.yaml'),
    'image:\n  repository: nine:9 # x\nevaluation:\n  redisImage: four:4\nbackup:\n  image: "ten:10"\n',
  );
  writeFileSync(
    join(root, 'deploy', 'helm', 'natter', 'templates', 'job.yaml'),
    'containers:\n  - image: eleven:11\n  - image: {{ .Values.backup.image }}\n',
  );
  const found = unpinnedImages(root).map(({ image }) => image);
  const expected = ['one:1', 'three:3', 'four:4', 'other:5', 'lower:6', 'tool:8', 'nine:9', 'ten:10', 'eleven:11'];
  expect(found.sort()).toEqual(expected.sort());
});

test('the closing line counts the skipped checks', () => {
  expect(summaryOf([], [])).toBe('audit: nothing found');
  expect(summaryOf(['a'], [])).toBe('audit: 1 problem');
  expect(summaryOf([], ['vulnerabilities'])).toBe('audit: nothing found, 1 check SKIPPED: vulnerabilities');
  expect(summaryOf(['a', 'b'], ['vulnerabilities'])).toBe('audit: 2 problems, 1 check SKIPPED: vulnerabilities');
});
