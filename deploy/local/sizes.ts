import { parseSync } from 'oxc-parser';

const maxFunctionLines = 60;
const isTest = (path: string): boolean => path.endsWith('.test.ts');
const isStyleSheet = (path: string): boolean => path.endsWith('.css');
/**
 * A test file is a list of independent cases; so is the callback of `describe`, whose length is not limited. A style sheet
 * is a list of independent rules, with one declaration in each line.
 */
const maxFileLines = (path: string): number => (isStyleSheet(path) ? 450 : isTest(path) ? 420 : 300);

/** Files that may be larger, or contain larger functions, with the reason. */
export const largeSources: ReadonlyMap<string, string> = new Map([
  ['libs/markdown/src/tables/emoji-names.ts', 'table'],
  ['libs/markdown/src/tables/code-languages.ts', 'table'],
  ['test-e2e/tests/roles/table-people.ts', 'table'],
  ['test-e2e/fuzz/requests/worst-inputs.ts', 'table'],
  ['test-e2e/tests/realm/client-state.ts', 'one case for each event'],
  ['test-e2e/tests/channels/model.ts', 'one case for each event'],
  ['test-e2e/containers/cluster.ts', 'starts one container after another'],
  ['test-e2e/systems/other-settings/mails.ts', 'a list of independent tests of one system'],
  ['test-e2e/tests/channels/secrecy.test.ts', 'one conversation, read by everybody after each step'],
  ['test-e2e/tests/clients/starts.test.ts', 'whole conversations of one client'],
  ['test-e2e/tests/realm/state-and-events.test.ts', 'one conversation that changes everything in turn'],
  ['test-e2e/tests/users/state-and-events.test.ts', 'one conversation that changes everything in turn'],
]);

interface Node {
  type: string;
  start: number;
  end: number;
}
interface Measured {
  name: string;
  line: number;
  lines: number;
}

/** Files and functions above the limits. `allowed`: the reason of each exception, by path. */
export function sizeFaults(sources: ReadonlyMap<string, string>, allowed: ReadonlyMap<string, string>): string[] {
  const found = [...sources].flatMap(([path, text]) => faultsOf(path, text).map((fault) => ({ path, fault })));
  const large = new Set(found.map(({ path }) => path));
  return [
    ...found.filter(({ path }) => !allowed.has(path)).map(({ path, fault }) => `${path}${fault}`),
    ...[...allowed.keys()].filter((path) => !large.has(path)).map((path) => `${path} is an exception without need`),
  ];
}

function faultsOf(path: string, text: string): string[] {
  const [count, limit] = [text.split('\n').length - 1, maxFileLines(path)];
  return [
    ...(count > limit ? [` has ${count} lines; at most ${limit}`] : []),
    ...(isStyleSheet(path) ? [] : functionsOf(path, text))
      .filter(({ name, lines }) => lines > maxFunctionLines && !(isTest(path) && name === 'the callback of describe'))
      .map(({ name, line, lines }) => `:${line} ${name} has ${lines} lines of its own; at most ${maxFunctionLines}`),
  ];
}

/** Every function with its own lines: a function inside another one counts there as one line. */
export function functionsOf(path: string, text: string): Measured[] {
  const lineAt = lineFinder(text);
  const found: Measured[] = [];
  const visit = (node: Node, name: string, outer: Measured | undefined): void => {
    let inner = outer;
    if (isFunction(node)) {
      const [first, last] = [lineAt(node.start), lineAt(node.end)];
      inner = { name: nameOf(node) ?? name, line: first, lines: last - first + 1 };
      found.push(inner);
      if (outer) outer.lines -= last - first;
    }
    for (const child of childrenOf(node)) visit(child, nameOf(node) ?? name, inner);
  };
  visit(parseSync(path, text).program as unknown as Node, path, undefined);
  return found;
}

const isFunction = ({ type }: Node): boolean =>
  /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);

/** The name that a node declares or assigns. */
function nameOf(node: Node): string | undefined {
  const { id, key, callee } = node as { id?: { name?: string }; key?: { name?: string }; callee?: { name?: string } };
  return id?.name ?? key?.name ?? (callee?.name === undefined ? undefined : `the callback of ${callee.name}`);
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
