import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { violations } from './kubernetes-schemas.ts';
import { chart, currentApis, extensions, helm, helms, type KubernetesObject, refusal, render } from './render.ts';
import { accepted, oneLine, page, pageFile, refused } from './values-page.ts';

const inEach = <T>(table: Record<string, T[]>): [string, T][] =>
  Object.entries(table).flatMap(([section, rows]) => rows.map((row): [string, T] => [section, row]));
const bad = inEach(refused).map(([section, { values, refusal }]) => ({
  name: `${section}: ${oneLine(values)}`,
  values,
  reason: refusal,
}));
const good = inEach(accepted).map(([section, values]) => ({ name: `${section}: ${oneLine(values)}`, values }));
const apiVersions = [...currentApis, ...extensions];

test('the page of refused values is made from the table (npm run ts deploy/helm/values-page.ts)', () => {
  expect(readFileSync(pageFile, 'utf8')).toBe(page());
});

describe.skipIf(helm === undefined)(`values${helm === undefined ? ': SKIPPED: there is no helm binary' : ''}`, () => {
  test('the table has at least 60 kinds of bad values, without duplicates', () => {
    expect(new Set(bad.map(({ name }) => name)).size).toBe(bad.length);
    expect(bad.length).toBeGreaterThanOrEqual(60);
  });

  test.each(bad)('refused: $name', ({ values, reason }) => {
    expect(refusal(values)).toContain(reason);
  });

  test.each(good)('accepted: $name', ({ values }) => {
    expect(refusal(values, { apiVersions })).toBe('');
  });

  test('Kubernetes accepts the objects that accepted values render', async () => {
    const objects = good.flatMap(({ values }) => render({ values, apiVersions }));
    const distinct = new Map(objects.map((object) => [JSON.stringify(object), object]));
    expect(distinct.size).toBeGreaterThan(good.length);
    expect(await violations([...distinct.values()])).toEqual([]);
  });

  test('a release name that is not valid for a Service is rejected', () => {
    expect(refusal({}, { release: 'natter.prod' })).toContain('set fullnameOverride');
    expect(refusal({}, { release: '1natter' })).toContain('set fullnameOverride');
    expect(refusal({ fullnameOverride: 'chat' }, { release: 'natter.prod' })).toBe('');
  });

  test('one error names all faults', () => {
    const text = refusal({
      serviceAccount: { name: 'default' },
      ingress: { enabled: true },
      services: { users: { preStopSeconds: 60 }, gateway: { autoscaling: { maxReplicas: 1 } } },
    });
    for (const reason of [
      'serviceAccount.name',
      'ingress.hosts',
      'services.users.termination',
      'services.gateway.auto',
    ])
      expect(text).toContain(reason);
  });
});

/** Versions that only the environment can give: see NATTER_HELMS in render.ts. */
const others = helms.slice(1);
describe.each(helms)('helm $version', ({ command }) => {
  const values = [{}, { evaluation: { enabled: true } }, ...Object.values(accepted).map(([first = {}]) => first)];

  test('lints values of each section', () => {
    for (const given of values) {
      const { status, stdout, stderr } = spawnSync(command, ['lint', '--strict', chart, '-f', '-'], {
        input: JSON.stringify(given),
        encoding: 'utf8',
      });
      expect([status, `${stdout}${stderr}`], oneLine(given)).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
    }
  });
});

describe.skipIf(others.length === 0)(
  `other versions of helm${others.length === 0 ? ': SKIPPED: NATTER_HELMS names none' : ''}`,
  () => {
    test.each(others)('$version rejects every bad value and names its place', ({ command }) => {
      for (const { name, values, reason } of bad) {
        const text = refusal(values, { command });
        const place = /^(?:\(root\)|[\w.-]+)/.exec(reason)?.[0].split('.').at(-1) ?? '';
        const names = place === '(root)' ? ['at'] : [place, 'invalid propertyName'];
        expect(
          names.some((one) => text.includes(one)),
          `${name}: ${text}`,
        ).toBe(true);
      }
    });

    test.each(others)('$version renders the same objects', ({ command }) => {
      for (const { name, values } of good)
        expect(withoutSecrets(render({ values, apiVersions, command })), name).toEqual(
          withoutSecrets(render({ values, apiVersions })),
        );
    });
  },
);

/** Each rendering generates the passwords of the evaluation's servers anew. */
const withoutSecrets = (objects: KubernetesObject[]): string =>
  JSON.stringify(objects, null, 1).replace(/\b[0-9a-zA-Z]{40}\b|\b[0-9a-f]{64}\b/g, 'generated');
