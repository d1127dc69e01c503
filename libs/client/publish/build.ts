/**
 * The client as a package that is installed without the rest of Natter: one module without dependencies, its types, a README.
 * `node libs/client/publish/build.ts` writes `libs/client/dist`; then `npm publish libs/client/dist`.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Operation, operationsByName } from '@natter/contracts';
import { build } from 'esbuild';
import { z } from 'zod';
import { objectOf, type Shape, typeScriptOf } from './typescript-of.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..', '..');

const operations = Object.entries(operationsByName as Record<string, Operation>).filter(
  ([, operation]) => operation.http !== undefined,
);

export async function buildPackage(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const { version } = JSON.parse(await readFile(join(here, '..', 'package.json'), 'utf8')) as { version: string };
  await build({
    entryPoints: [join(here, '..', 'src', 'index.ts')],
    outfile: join(directory, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'silent',
    plugins: [
      {
        name: 'contract as data',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^@natter\/contracts$/ }, () => ({ path: 'contract', namespace: 'data' }));
          onLoad({ filter: /.*/, namespace: 'data' }, () => ({ contents: contractModule() }));
        },
      },
    ],
  });
  await writeFile(join(directory, 'index.d.ts'), await declarations());
  await copyFile(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  await copyFile(join(here, 'README.md'), join(directory, 'README.md'));
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest(version), null, 2)}\n`);
}

const manifest = (version: string): Record<string, unknown> => ({
  name: '@natter-chat/client',
  version,
  description: "Typed client of Natter's chat API: a method per operation, an async iterator over events",
  license: 'Apache-2.0',
  keywords: ['natter', 'chat', 'bot', 'client'],
  type: 'module',
  engines: { node: '>=20.3' },
  sideEffects: false,
  main: './index.js',
  types: './index.d.ts',
  exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
  files: ['index.js', 'index.d.ts'],
});

/** What requests are made from; the schemas themselves stay at the server, which checks. */
function contractModule(): string {
  const data = operations.map(([method, { name, http, params, isReadOnly, deadlineMs }]) => {
    const encodings = Object.entries(params).map(([key, { encoding }]) => [key, { encoding }]);
    return [method, { name, http, params: Object.fromEntries(encodings), isReadOnly, deadlineMs }];
  });
  return `export const operationsByName = ${JSON.stringify(Object.fromEntries(data))};`;
}

async function declarations(): Promise<string> {
  const methods = operations.map(([method, { summary, params, result }]) => {
    const shapes = Object.entries(params).map(([name, { schema }]) => [name, shapeOf(schema, 'input')] as const);
    const required = Object.entries(params).flatMap(([name, { required }]) => (required ? [name] : []));
    const given =
      shapes.length === 0 ? 'Record<string, never>' : objectOf({ properties: Object.fromEntries(shapes), required });
    const isOptional = required.length === 0 ? '?' : '';
    const answer = typeScriptOf(shapeOf(result, 'output'));
    return `  /** ${summary.replaceAll('*/', '* /')} */\n  ${method}(params${isOptional}: ${given}, options?: CallOptions): Promise<${answer}>;`;
  });
  const rest = await readFile(join(here, 'surface.d.ts'), 'utf8');
  return `${rest}\n/** A method per operation; parameters and answers are named as in the API. */\nexport interface Client {\n${methods.join('\n')}\n}\n`;
}

const shapeOf = (schema: z.ZodType, io: 'input' | 'output'): Shape =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Shape;

if (process.argv[1] === import.meta.filename) {
  const directory = join(here, '..', 'dist');
  await buildPackage(directory);
  console.log(`${directory} is ready: npm publish ${directory}`);
}
