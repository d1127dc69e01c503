/**
 * Checks rendered objects against the Kubernetes schemas in two ways: types and required fields with the validators of
 * `kubernetes-models`, and unknown fields, which Kubernetes would silently drop, with the TypeScript compiler, which
 * rejects excess properties of a literal.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KubernetesObject } from './render.ts';

const models = dirname(createRequire(import.meta.url).resolve('kubernetes-models/package.json'));

/** The path of a kind within `kubernetes-models`; undefined for kinds of extensions and of removed API versions. */
function modelOf({ apiVersion, kind }: KubernetesObject): string | undefined {
  const path = join(models, apiVersion, `${kind}.js`);
  return existsSync(path) ? path : undefined;
}

export async function violations(objects: readonly KubernetesObject[]): Promise<string[]> {
  const found: string[] = [];
  const known = objects.filter((object) => modelOf(object) !== undefined);
  for (const object of known) {
    const module = (await import(pathToFileURL(modelOf(object) ?? '').href)) as Record<
      string,
      new (
        data: unknown,
      ) => { validate(): void }
    >;
    const Model = module[object.kind];
    try {
      if (Model) new Model(object).validate();
    } catch (error) {
      found.push(`${object.kind} ${object.metadata.name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return [...found, ...unknownFields(known)];
}

export const isCovered = (object: KubernetesObject): boolean => modelOf(object) !== undefined;

function unknownFields(objects: readonly KubernetesObject[]): string[] {
  const root = dirname(dirname(import.meta.dirname));
  // The compiler resolves the packages only from a folder below this one.
  const directory = mkdtempSync(join(import.meta.dirname, '.check-'));
  try {
    const lines = objects.flatMap((object, index) => [
      `import type { I${object.kind} as T${index} } from 'kubernetes-models/${object.apiVersion}/${object.kind}';`,
      `export const object${index}: T${index} = ${JSON.stringify(object)};`,
    ]);
    const file = join(directory, 'objects.ts');
    writeFileSync(file, lines.join('\n'));
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--ignoreConfig',
    ];
    const { status, stdout } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), [...options, file], {
      encoding: 'utf8',
    });
    return status === 0 ? [] : stdout.trim().split('\n');
  } finally {
    rmSync(directory, { recursive: true });
  }
}
