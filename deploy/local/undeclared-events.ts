import { loggedEvents } from '@natter/contracts';
import { parseSync } from 'oxc-parser';
import { readSources } from './source-files.ts';

interface Node {
  type: string;
  start: number;
}

/** Functions that make an event, or read one, by its name. */
const namingFunctions = /^(?:eventForUsers|toSelf|forGuests)$/;
const declared = Object.keys(loggedEvents);

/**
 * The names of events in the code that the contract does not declare: of objects with `type` and `audience`, of calls
 * that make an event by its name, and of handlers of consumers. The types refuse them too; this finds them without the
 * compiler. A name that is computed is compared as far as it is known.
 */
export function undeclaredEvents(path: string, text: string): string[] {
  const found: string[] = [];
  const check = (name: string, at: Node): void => {
    if (!isDeclared(name)) found.push(`${path}:${text.slice(0, at.start).split('\n').length}: ${name}`);
  };
  const visit = (node: Node): void => {
    for (const name of namesIn(node)) check(name, node);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parseSync(path, text).program as unknown as Node);
  return found;
}

/** All code, except tests and the web client, which emits no events. */
const sources = (): [path: string, text: string][] =>
  [...readSources(/\.ts$/)].filter(
    ([path]) => /^(?:services|libs)\//.test(path) && !/\.test\.ts$|^services\/web\//.test(path),
  );

export const allUndeclaredEvents = (): string[] => sources().flatMap(([path, text]) => undeclaredEvents(path, text));

/** Types of events that the contract declares, and no service sends. */
export function unsentTypes(): string[] {
  const sent = new Set<string>();
  const visit = (node: Node): void => {
    for (const type of typesSentIn(node)) sent.add(type);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const [path, text] of sources()) visit(parseSync(path, text).program as unknown as Node);
  return [...new Set(declared.map(typeOfName))].filter((type) => !sent.has(type));
}

const typeOfName = (name: string): string => name.replace(/\/.*/, '');

function typesSentIn(node: Node): string[] {
  if (node.type === 'CallExpression') return namesMadeBy(node as Call).map(typeOfName);
  if (node.type !== 'ObjectExpression') return [];
  const values = propertiesOf(node);
  const type = textOf(values.get('type'));
  return type !== undefined && values.has('audience') ? [type] : [];
}

/** `*` stands for an operation that is not known. */
const isDeclared = (name: string): boolean =>
  name.endsWith('/*') ? hasOperations(name.slice(0, -2)) : declared.includes(name);

const hasOperations = (type: string): boolean => declared.some((one) => one.startsWith(`${type}/`));

function namesIn(node: Node): string[] {
  if (node.type === 'ObjectExpression') return nameOfObject(node);
  if (node.type !== 'CallExpression') return [];
  const { callee, arguments: given } = node as Call;
  const method = callee.property?.name ?? callee.name;
  return method === 'consume' && given[0] ? handledBy(given[0]) : namesMadeBy(node as Call);
}

const namesMadeBy = ({ callee, arguments: given }: Call): string[] =>
  namingFunctions.test(callee.name ?? '') ? given.flatMap((argument) => textOf(argument) ?? []) : [];

interface Call extends Node {
  callee: Node & Named;
  arguments: Node[];
}

interface Named {
  name?: string;
  property?: { name?: string };
}

function nameOfObject(node: Node): string[] {
  const values = propertiesOf(node);
  const type = textOf(values.get('type'));
  if (type === undefined || !values.has('audience')) return [];
  // An object without `op` may be a part of an event to which the operation is added elsewhere.
  if (!values.has('op')) return hasOperations(type) ? [] : [type];
  return [`${type}/${textOf(values.get('op')) ?? '*'}`];
}

interface Property {
  key?: { name?: string; value?: string };
  computed?: boolean;
  value?: Node;
}

/** The keys of the object `on`. */
function handledBy(options: Node): string[] {
  const on = propertiesOf(options).get('on');
  return on ? [...propertiesOf(on).keys()] : [];
}

function propertiesOf(node: Node): Map<string, Node> {
  const { properties = [] } = node as Node & { properties?: (Node & Property)[] };
  return new Map(
    properties.flatMap(({ key, computed, value }) => {
      const name = key?.name ?? key?.value;
      return name === undefined || computed || !value ? [] : [[name, value] as const];
    }),
  );
}

/** The text of a literal, also of one with `as const`. */
function textOf(node: Node | undefined): string | undefined {
  const { value, expression } = (node ?? {}) as { value?: unknown; expression?: Node };
  if (node?.type === 'TSAsExpression') return textOf(expression);
  return node?.type === 'Literal' && typeof value === 'string' ? value : undefined;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);
