/**
 * Builds the web client into `services/gateway/dist`, from where gateways serve it: files with the hash of their
 * content in the name, and a Brotli copy of each. `npm run ts services/web/build/build.ts`
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { contractModule } from '@natter/client/contract-module';
import { build, type Plugin } from 'vite';
import { languageCodes } from '../src/text/languages.ts';
import { unreadIcons } from './unread-icons.ts';

const web = join(import.meta.dirname, '..');
const root = join(web, '..', '..');
const target = join(root, 'services', 'gateway', 'dist');
const stamp = '.sources';

/** Files whose content decides the result. */
const sources = ['services/web', 'libs/client', 'libs/contracts/src', 'pnpm-lock.yaml'];

/** Builds if a source changed since the last build. Returns whether it did. */
export async function buildWebClient(): Promise<boolean> {
  const wanted = hashOfSources();
  if (isBuilt(wanted)) return false;
  const unfinished = `${target}.${process.pid}`;
  try {
    await build({
      root: web,
      configFile: false,
      logLevel: 'error',
      // Tests run with another environment, and get the same files.
      mode: 'production',
      resolve: { conditions: ['module', 'browser', 'production'] },
      define: { 'process.env.NODE_ENV': '"production"' },
      oxc: { jsx: { runtime: 'automatic', development: false } },
      plugins: [contractAsData, unreadIcons, scriptToLoadAgain],
      build: { outDir: unfinished, emptyOutDir: true, target: 'es2022', modulePreload: { polyfill: false } },
    });
    for (const file of filesBelow(unfinished)) compress(join(unfinished, file));
    writeFileSync(join(unfinished, stamp), wanted);
    // Another process built the same meanwhile, and may serve it already.
    if (isBuilt(wanted)) return false;
    rmSync(target, { recursive: true, force: true });
    // Two simultaneous builds have equal results, so the first one is kept.
    if (!existsSync(target)) renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return true;
}

function isBuilt(wanted: string): boolean {
  const built = join(target, stamp);
  return existsSync(built) && readFileSync(built, 'utf8') === wanted;
}

/**
 * Bytes of the scripts, compressed, that a browser loads before it shows the first page: with the texts of one language,
 * here the largest one.
 */
export function firstLoadBytes(): number {
  const scripts = readFileSync(join(target, 'index.html'), 'utf8').match(/assets\/[^"]+\.js/g) ?? [];
  const size = (script: string): number => statSync(join(target, `${script}.br`)).size;
  return scripts.reduce((bytes, script) => bytes + size(script), Math.max(...textScripts().map(size)));
}

/** The scripts with the texts of a language each. */
function textScripts(): string[] {
  const names = readdirSync(join(target, 'assets'));
  return languageCodes.map((code) => {
    const [script, ...others] = names.filter((name) => name.startsWith(`${code}-`) && name.endsWith('.js'));
    if (script === undefined || others.length > 0) throw new Error(`The texts in ${code} are not one script.`);
    return `assets/${script}`;
  });
}

/** Pages need the routes of operations and the encodings of parameters, not the schemas. */
const contractAsData: Plugin = {
  name: 'contract as data',
  enforce: 'pre',
  resolveId: (id) => (id === '@natter/contracts' ? '\0contract' : undefined),
  load: (id) => (id === '\0contract' ? contractModule() : undefined),
};

/** Gateways of every release serve this script, so its name contains no hash. */
const scriptToLoadAgain: Plugin = {
  name: 'script with a constant name',
  buildStart() {
    this.emitFile({ type: 'chunk', id: join(web, 'src', 'load-again.ts'), fileName: 'assets/load-again.js' });
  },
};

function compress(file: string): void {
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    const path = join(root, source);
    const files = source.endsWith('.yaml') ? [''] : filesBelow(path);
    for (const file of files.sort()) hash.update(`${source}/${file}\n`).update(readFileSync(join(path, file)));
  }
  return hash.digest('hex');
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    return entry.isDirectory()
      ? filesBelow(join(folder, entry.name)).map((file) => join(entry.name, file))
      : [entry.name];
  });

if (process.argv[1] === import.meta.filename) {
  const isNew = await buildWebClient();
  console.log(
    `${target} ${isNew ? 'is built' : 'is up to date'}; scripts of the first load: ${firstLoadBytes()} bytes`,
  );
}
