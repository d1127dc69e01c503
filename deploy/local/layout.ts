import { posix } from 'node:path';

/** Source files by their path in the repository. */
export type Sources = ReadonlyMap<string, string>;

const importing =
  /^\s*(?:import|export)\b[^;'"`]*?\bfrom\s+'(\.[^']+)'|^\s*import\s+'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/gm;
const handling = /\bhandle(?:Write|Stored)?\(/;

/**
 * Folders of the gateway and the web client are layers, not features: they may import each other as long as there is no cycle.
 */
const layered = new Set(['gateway', 'web']);

/**
 * Finds violations of the rules of `docs/architecture/layout.md`: cycles of files and of folders, and in services
 * imports between features, imports of files that lie above, and handlers in `model/`. Tests count as files of their
 * folder.
 */
export function layoutFaults(sources: Sources): string[] {
  const services = new Map<string, Map<string, string>>();
  const others = new Map<string, string[]>();
  for (const [path, text] of sources) {
    const [, service = '', file] = /^services\/([^/]+)\/src\/(.+)$/.exec(path) ?? [];
    if (file !== undefined) services.set(service, (services.get(service) ?? new Map()).set(file, text));
    else others.set(path, importsOf(path, text));
  }
  return [
    ...[...services].flatMap(([service, files]) =>
      faultsOf(service, files).map((fault) => `services/${service}/src: ${fault}`),
    ),
    ...cyclesIn(others),
  ];
}

function faultsOf(service: string, files: Sources): string[] {
  const imports = new Map([...files].map(([file, text]) => [file, importsOf(file, text)]));
  const edges = [...imports].flatMap(([file, targets]) => targets.map((target) => [file, target] as const));
  return [
    ...edges.flatMap(([file, target]) => importFault(service, file, target) ?? []),
    ...[...files]
      .filter(([file, text]) => featureOf(file) === 'model' && handling.test(text))
      .map(([file]) => `${file} handles an operation in model/`),
    ...cyclesIn(imports),
  ];
}

/** Cycles of files, and of folders whose files import each other. */
function cyclesIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const from = posix.dirname(file);
    const imported = folders.get(from) ?? new Set();
    folders.set(from, imported);
    for (const to of targets.map((target) => posix.dirname(target))) if (to !== from) imported.add(to);
  }
  return [
    ...cyclesOf(imports).map((cycle) => `cycle of files: ${cycle.join(' ')}`),
    ...cyclesOf(folders).map((cycle) => `cycle of folders: ${cycle.join(' ')}`),
  ];
}

function importFault(service: string, file: string, target: string): string | undefined {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (from === undefined || from === to) return undefined;
  if (to === undefined) return `${file} imports ${target}, which lies above it`;
  if (layered.has(service) || to === 'model') return undefined;
  return from === 'model'
    ? `${file} imports ${target}, which lies above it`
    : `${file} imports ${target} of another feature`;
}

/** The folder below `src/`; none for files that wire the service. */
const featureOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined);

const importsOf = (file: string, text: string): string[] =>
  [...text.matchAll(importing)].map(([, named, bare, dynamic]) =>
    posix.join(posix.dirname(file), named ?? bare ?? dynamic ?? ''),
  );

/** Groups of nodes that reach each other. */
function cyclesOf(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const reached = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]));
  const cycles = new Map<string, string[]>();
  for (const [node, nodes] of reached) {
    const cycle = [...nodes].filter((other) => reached.get(other)?.has(node)).sort();
    if (cycle.length > 0) cycles.set(cycle.join(), cycle);
  }
  return [...cycles.values()];
}

function reachableFrom(graph: ReadonlyMap<string, Iterable<string>>, start: string): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const next of graph.get(node) ?? [])
      if (!found.has(next)) {
        found.add(next);
        open.push(next);
      }
  return found;
}
