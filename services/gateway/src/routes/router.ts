import type { Operation, Route } from '@natter/contracts';
import { decodeText } from '../http/request-fields.ts';

/** `json`: the operations of `api` for browsers, which send the cookie of a session instead of an API key. */
export type Surface = 'api' | 'json' | 'page';

export interface Place {
  surface: Surface;
  /** Methods of the path. */
  methods: string[];
  /** The operations of all methods. */
  operations: Operation[];
  operation(method: string): { operation: Operation; path: Record<string, string> } | undefined;
}

/** Every path of the contract. The most specific template wins: `/users/me` does not match `/users/{user_id}`. */
export interface Router {
  find(path: string): Place | undefined;
}

interface Shape {
  surface: Surface;
  /** A literal segment, or a pattern for a segment with a parameter. */
  segments: (string | RegExp)[];
  byMethod: Map<string, { operation: Operation; names: string[] }>;
  /** Whether the last segment matches the rest of a longer path. */
  isOpenEnded: boolean;
}

const prefixes: readonly [Surface, string][] = [
  ['api', '/api/v1'],
  ['json', '/json'],
];

export function createRouter(operations: readonly Operation[]): Router {
  const shapes = new Map<string, Shape>();
  function add(operation: Operation, route: Route, surface: Surface, path: string): void {
    const key = segmentsOf(path)
      .map((segment) => segment.replace(names, '{}'))
      .join('/');
    const shape: Shape = shapes.get(key) ?? {
      surface,
      segments: key.split('/').map(toPattern),
      byMethod: new Map(),
      isOpenEnded: route.isOpenEnded === true,
    };
    shapes.set(key, shape);
    shape.byMethod.set(route.method, {
      operation,
      names: [...route.path.matchAll(names)].map((match) => match[1] ?? ''),
    });
  }
  for (const operation of operations) {
    const route = operation.http ?? operation.page;
    if (!route) continue;
    if (operation.http) for (const [surface, prefix] of prefixes) add(operation, route, surface, prefix + route.path);
    else add(operation, route, 'page', route.path);
  }
  const byLength = new Map<number, Shape[]>();
  for (const shape of [...shapes.values()].sort((a, b) => specificity(b).localeCompare(specificity(a))))
    if (shape.segments.some((segment) => typeof segment !== 'string'))
      byLength.set(shape.segments.length, [...(byLength.get(shape.segments.length) ?? []), shape]);

  const openEnded = [...shapes.values()].filter((shape) => shape.isOpenEnded);
  /** The places of the templates without parameters, by path. */
  const fixed = new Map<string, Place>();
  for (const [key, shape] of shapes)
    if (shape.segments.every((segment) => typeof segment === 'string')) fixed.set(`/${key}`, placeOf(shape, []));

  return {
    find(path) {
      const known = fixed.get(path);
      if (known) return known;
      const exact = segmentsOf(path);
      const found =
        shapes.get(exact.join('/')) ?? byLength.get(exact.length)?.find((candidate) => fits(candidate, exact));
      const shape = found ?? openEnded.find((candidate) => fits(candidate, joined(exact, candidate)));
      if (!shape) return undefined;
      const segments = joined(exact, shape);
      const values = shape.segments.flatMap((segment, index) =>
        typeof segment === 'string' ? [] : (segment.exec(segments[index] ?? '')?.slice(1) ?? []),
      );
      return placeOf(shape, values);
    },
  };
}

/** `values`: the text of each parameter in the path. */
function placeOf({ surface, byMethod }: Shape, values: readonly string[]): Place {
  return {
    surface,
    methods: [...byMethod.keys()],
    operations: [...byMethod.values()].map(({ operation }) => operation),
    operation(method) {
      const found = byMethod.get(method);
      if (!found) return undefined;
      const path: Record<string, string> = {};
      found.names.forEach((name, index) => {
        path[name] = decodeText((values[index] ?? '').replaceAll('+', '%2B'));
      });
      return { operation: found.operation, path };
    },
  };
}

/**
 * Repeated slashes count as one, because some clients send `/api/v1//users`, and clients that are configured with an address
 * with a slash at its end send `//api/v1/users`.
 */
const segmentsOf = (path: string): string[] => {
  const [first = '', ...others] = path.replace(/^\/+/, '').split('/');
  return [first, ...others.filter((segment) => segment !== '')];
};
const names = /\{(\w+)\}/g;
const toPattern = (segment: string): string | RegExp =>
  segment.includes('{}')
    ? new RegExp(
        `^${segment
          .split('{}')
          .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('(.+)')}$`,
      )
    : segment;
const specificity = ({ segments }: Shape): string =>
  segments.map((segment) => (typeof segment === 'string' ? '1' : '0')).join('');
/** The segments of a path as the template has them: the last one holds the rest. */
const joined = (path: string[], { segments, isOpenEnded }: Shape): string[] =>
  isOpenEnded && path.length > segments.length
    ? [...path.slice(0, segments.length - 1), path.slice(segments.length - 1).join('/')]
    : path;
const fits = ({ segments }: Shape, path: string[]): boolean =>
  segments.every((segment, index) =>
    typeof segment === 'string' ? segment === path[index] : segment.test(path[index] ?? ''),
  );
