import { globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { declaredConsumer, durableConsumers } from '@natter/contracts';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../services/', import.meta.url));
const keyOf = ({ service, name }: { service: string; name: string }): string => `${service}/${name}`;

/** The names after `consume({ name:` in the code of all services; a constant is resolved within its file. */
function startedConsumers(): string[] {
  const filesOf = (service: string): string[] =>
    globSync(`${service}/src/**/*.ts`, { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  return readdirSync(root)
    .flatMap(filesOf)
    .flatMap((path) => {
      const text = readFileSync(root + path, 'utf8');
      const service = path.split('/')[0] ?? '';
      return [...text.matchAll(/\bconsume\(\{\s*name: (?:'([^']+)'|(\w+))/g)].map(([, literal, constant]) =>
        keyOf({ service, name: literal ?? new RegExp(`${constant} = '([^']+)'`).exec(text)?.[1] ?? path }),
      );
    });
}

test('services start exactly the declared consumers', () => {
  expect(startedConsumers().sort()).toEqual(durableConsumers.map(keyOf).sort());
});

test('a consumer that is not declared, or reads other events, does not start', () => {
  expect(() => declaredConsumer('messaging', 'ended-mutes', ['mutes_ended'])).not.toThrow();
  expect(() => declaredConsumer('messaging', 'ended-mute', ['mutes_ended'])).toThrow('lists no consumer');
  expect(() => declaredConsumer('messaging', 'ended-mutes', ['mutes_ended', 'tick'])).toThrow('declared to read');
  expect(() => declaredConsumer('presence', 'notices', ['realm_user/add'])).toThrow('lists no consumer');
});
