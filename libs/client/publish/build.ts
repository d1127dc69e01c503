/**
 * Builds the client as a package that installs without the rest of Natter: one module without dependencies, its types,
 * a README. `npm run ts libs/client/publish/build.ts` writes `libs/client/dist`; then `npm publish libs/client/dist`.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicEvents } from '@natter/contracts';
import { build, type Plugin } from 'esbuild';
import { z } from 'zod';
import { contractModule, routed } from './contract-module.ts';
import { objectOf, type Shape, typeScriptOf } from './typescript-of.ts';

const here = import.meta.dirname;
const root = join(here, '..', '..', '..');

export async function buildPackage(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const { version } = JSON.parse(await readFile(join(here, '..', 'package.json'), 'utf8')) as { version: string };
  for (const [format, outfile] of [
    ['esm', 'index.js'],
    ['cjs', 'index.cjs'],
  ] as const)
    await build({
      entryPoints: [join(here, '..', 'src', 'index.ts')],
      outfile: join(directory, outfile),
      bundle: true,
      minify: true,
      keepNames: true,
      format,
      platform: 'neutral',
      target: 'es2022',
      logLevel: 'silent',
      plugins: [contractAsData],
    });
  const types = await declarations();
  await writeFile(join(directory, 'index.d.ts'), types);
  await writeFile(join(directory, 'index.d.cts'), types);
  await copyFile(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  await copyFile(join(here, 'README.md'), join(directory, 'README.md'));
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest(version), null, 2)}\n`);
}

const contractAsData: Plugin = {
  name: 'contract as data',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@natter\/contracts$/ }, () => ({ path: 'contract', namespace: 'data' }));
    onLoad({ filter: /.*/, namespace: 'data' }, () => ({ contents: contractModule() }));
  },
};

const manifest = (version: string): Record<string, unknown> => ({
  name: '@natter-chat/client',
  version,
  description: "Typed client of Natter's chat API: a method per operation, an async iterator over events",
  license: 'Apache-2.0',
  keywords: ['natter', 'chat', 'bot', 'client'],
  type: 'module',
  engines: { node: '>=20.3' },
  sideEffects: false,
  main: './index.cjs',
  module: './index.js',
  types: './index.d.cts',
  exports: {
    '.': {
      import: { types: './index.d.ts', default: './index.js' },
      require: { types: './index.d.cts', default: './index.cjs' },
    },
    './package.json': './package.json',
  },
  files: ['index.js', 'index.cjs', 'index.d.ts', 'index.d.cts'],
});

async function declarations(): Promise<string> {
  const methods = routed.map(([method, { summary, params, result }]) => {
    const shapes = Object.entries(params).map(
      ([name, { schema }]) => [name, name === 'file' ? blob : shapeOf(schema, 'input')] as const,
    );
    const required = Object.entries(params).flatMap(([name, { required }]) => (required ? [name] : []));
    const given =
      shapes.length === 0 ? 'Record<string, never>' : objectOf({ properties: Object.fromEntries(shapes), required });
    const isOptional = required.length === 0 ? '?' : '';
    const answer = typeScriptOf(shapeOf(result, 'output'));
    return `  /** ${summary.replaceAll('*/', '* /')} */\n  ${method}(params${isOptional}: ${given}, options?: CallOptions): Promise<${answer}>;`;
  });
  const events = [...publicEvents].map(
    ([name, { summary, view }]) => `  /** ${summary} */\n  '${name}': ${typeScriptOf(shapeOf(view, 'output'))};`,
  );
  const bodies = `/** The fields of each event beside \`id\`, \`type\` and \`op\`, by \`type\` or \`type/op\`. */\nexport interface EventBodies {\n${events.join('\n')}\n}\n`;
  const rest = await readFile(join(here, 'surface.d.ts'), 'utf8');
  return `${rest}\n${bodies}\n/** A method per operation; parameters and answers are named as in the API. */\nexport interface Client {\n${methods.join('\n')}\n}\n`;
}

/** A file is passed as a `Blob`; the schema describes it inside the server. */
const blob: Shape = { typescript: 'Blob' };

const shapeOf = (schema: z.ZodType, io: 'input' | 'output'): Shape =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Shape;

if (process.argv[1] === import.meta.filename) {
  const directory = join(here, '..', 'dist');
  await buildPackage(directory);
  console.log(`${directory} is ready: npm publish ${directory}`);
}
