/**
 * Builds the content of the image in `deploy/docker/dist`: every service and command in one program, the Node binary
 * that runs it, and the data files that code reads, for the platform of the build machine. `npm run ts
 * deploy/docker/bundle.ts`
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { buildWebClient } from '@natter/web/build';
import { build } from 'esbuild';
import { loadedPart } from './strip.ts';

const root = dirname(dirname(import.meta.dirname));
export const dist = join(import.meta.dirname, 'dist');

/** Packages with native code; they are copied, not bundled. */
const natives = ['@node-rs/argon2'];

/** The package `piscina`. It is copied, not bundled, because it starts one of its own files as a thread. */
const threads = join(root, 'libs', 'renderer', 'node_modules', 'piscina');

const thisPlatform = `${process.platform}-${process.arch}`;

export async function bundle(platform = thisPlatform): Promise<void> {
  rmSync(dist, { recursive: true, force: true });
  await bundlePrograms(join(dist, 'app'), platform);
  const node = join(root, 'node_modules', `node-${platform}`, 'bin', 'node');
  if (!existsSync(node)) throw new Error(`Node for ${platform} is not installed: ${node}`);
  writeFileSync(join(dist, 'node'), loadedPart(readFileSync(node)), { mode: 0o755 });
}

/** Fills a folder with all but the Node binary. Returns the program, which runs the service or command of its arguments. */
export async function bundlePrograms(app: string, platform = thisPlatform): Promise<string> {
  await buildWebClient();
  mkdirSync(app, { recursive: true });
  await build({
    entryPoints: {
      natter: join(root, 'deploy', 'admin', 'src', 'natter.ts'),
      'render-worker': join(root, 'libs', 'renderer', 'src', 'render-worker.ts'),
      'watchdog-thread': join(root, 'libs', 'service-kit', 'src', 'watchdog-thread.ts'),
    },
    outdir: join(app, 'bin'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: [...natives, 'piscina', 'pino-pretty', 'pg-native'],
    // CommonJS dependencies load built-in modules with `require`.
    banner: {
      js: "import { createRequire as natterRequire } from 'node:module';const require = natterRequire(import.meta.url);",
    },
    legalComments: 'none',
    sourcemap: false,
    logLevel: 'warning',
  });
  copyReadFiles(app);
  for (const name of natives) copyNative(name, platform, app);
  for (const part of ['package.json', 'dist'])
    cpSync(join(threads, part), join(app, 'node_modules', 'piscina', part), {
      recursive: true,
      dereference: true,
      filter: isWanted,
    });
  return join(app, 'bin', 'natter.mjs');
}

/** Code refers to them as `../<folder>/<file>`; all bundles are in one folder, so these folders are merged. */
function copyReadFiles(app: string): void {
  const owners = ['libs', 'services'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  );
  for (const owner of owners.filter((path) => existsSync(join(path, 'src')))) {
    for (const folder of foldersReadBy(owner)) {
      for (const file of readdirSync(join(owner, folder))) {
        const target = join(app, folder, file);
        if (existsSync(target)) throw new Error(`Two files are named ${relative(app, target)}`);
        cpSync(join(owner, folder, file), target, { recursive: true });
      }
    }
  }
}

function foldersReadBy(owner: string): Set<string> {
  const folders = new Set<string>();
  for (const file of readdirSync(join(owner, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const text = readFileSync(join(owner, 'src', file), 'utf8');
    for (const [, path = ''] of text.matchAll(/new URL\([`'"]([^`'"]+)[`'"],\s*import\.meta\.url\)/g)) {
      const folder = /^\.\.\/([\w-]+)\//.exec(path)?.[1];
      if (folder === undefined || file.includes('/'))
        throw new Error(
          `${relative(root, owner)}/src/${file} reads ${path}: only ../<folder>/ of a lib or service is bundled`,
        );
      folders.add(folder);
    }
  }
  return folders;
}

/** The package and its native code for the platform, without that of other platforms. */
function copyNative(name: string, platform: string, app: string): void {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const copy = (from: string, packageName: string): void =>
    cpSync(from, join(app, 'node_modules', packageName), { recursive: true, dereference: true, filter: isWanted });
  copy(dirname(manifest), name);
  const machineCode = `${name}-${platform}${platform.startsWith('linux') ? '-gnu' : ''}`;
  const beside = createRequire(realpathSync(manifest)).resolve(`${machineCode}/package.json`);
  copy(dirname(beside), machineCode);
}

const isWanted = (path: string): boolean => statSync(path).isDirectory() || !/\.(d\.ts|md|map)$/.test(path);

if (process.argv[1] === import.meta.filename) {
  await bundle();
  const size = (path: string): number =>
    statSync(path).isDirectory()
      ? readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0)
      : statSync(path).size;
  console.log(`bundled into ${relative(process.cwd(), dist)}: ${(size(dist) / 1e6).toFixed(1)} MB`);
}
