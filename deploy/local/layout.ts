import { posix } from 'node:path';

/** Source files by their path in the repository. */
export type Sources = ReadonlyMap<string, string>;

/** The file behind each name that packages export, such as `@natter/web/build`. */
export type Exported = ReadonlyMap<string, string>;

interface Import {
  file: string;
  /** As written. */
  name: string;
  target: string;
}

const importing =
  /^\s*(?:import|export)\b[^;'"`]*?\bfrom\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
const handling = /\bhandle(?:Write|Stored)?\(/;

/**
 * Folders of the gateway and the web client are layers, not features: they may import each other as long as there is no cycle.
 */
const layered = new Set(['services/gateway', 'services/web']);

/**
 * Finds violations of the rules of `docs/architecture/layout.md`: cycles of packages, of folders and of files, imports
 * that leave a service or a lib in another way than by the name of a lib, and in services imports between features,
 * imports of files that lie above, and handlers in `model/`. Tests count as files of their folder.
 */
export function layoutFaults(sources: Sources, exported: Exported): string[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text, exported));
  return [
    ...imports.flatMap((one) => boundaryFault(one) ?? featureFault(one) ?? []),
    ...[...sources]
      .filter(([file, text]) => featureOf(file) === 'model' && handling.test(text))
      .map(([file]) => `${file} handles an operation in model/`),
    ...cyclesIn(imports),
  ];
}

/** Services and libs import each other's code only by the name of a lib. Tools and tests may import any file. */
function boundaryFault({ file, name, target }: Import): string | undefined {
  const [from, to] = [packageOf(file), packageOf(target)];
  if (from === to || !/^(?:services|libs)\//.test(from)) return undefined;
  if (to.startsWith('services/'))
    return `${file} imports ${name} of ${from.startsWith('libs/') ? 'a' : 'another'} service`;
  return name.startsWith('.') ? `${file} imports ${name} of another package by its path` : undefined;
}

function featureFault({ file, target }: Import): string | undefined {
  const [from, to] = [featureOf(file), featureOf(target)];
  if (!from || from === to || packageOf(file) !== packageOf(target)) return undefined;
  if (to === '') return `${file} imports ${target}, which lies above it`;
  if (layered.has(packageOf(file)) || to === 'model') return undefined;
  return from === 'model' || to === undefined
    ? `${file} imports ${target}, which lies above it`
    : `${file} imports ${target} of another feature`;
}

/** The folder of the package that a file belongs to. */
const packageOf = (file: string): string => /^(?:(?:services|libs|deploy)\/)?[^/]+/.exec(file)?.[0] ?? file;

/** The folder of a service below `src/`; empty for files that wire the service, none outside `src/`. */
function featureOf(file: string): string | undefined {
  const inService = /^services\/[^/]+\/src\/(?:([^/]+)\/)?/.exec(file);
  return inService ? (inService[1] ?? '') : undefined;
}

function importsOf(file: string, text: string, exported: Exported): Import[] {
  return [...text.matchAll(importing)].flatMap(([, named, bare, dynamic]) => {
    const name = named ?? bare ?? dynamic ?? '';
    const target = name.startsWith('.') ? posix.join(posix.dirname(file), name) : exported.get(name);
    return target === undefined ? [] : [{ file, name, target }];
  });
}

/** Cycles of files, and of the folders and packages whose files import each other. */
function cyclesIn(imports: readonly Import[]): string[] {
  const cycles = (what: string, placeOf: (file: string) => string): string[] =>
    cyclesOf(graphOf(imports, placeOf)).map((cycle) => `cycle of ${what}: ${cycle.join(' ')}`);
  return [...cycles('files', (file) => file), ...cycles('folders', posix.dirname), ...cycles('packages', packageOf)];
}

/** The places of files, each with the other places that its files import. */
function graphOf(imports: readonly Import[], placeOf: (file: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { file, target } of imports) {
    const [from, to] = [placeOf(file), placeOf(target)];
    const imported = graph.get(from) ?? new Set();
    graph.set(from, imported);
    if (to !== from || file === target) imported.add(to);
  }
  return graph;
}

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
