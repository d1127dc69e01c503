import type { Operation } from '@natter/contracts';
import { decodeText } from './request-fields.ts';

export interface Place {
  /** Verbs that the path knows. */
  methods: string[];
  operation(method: string): { operation: Operation; path: Record<string, string> } | undefined;
}

/** Every path of the contract. The most specific template decides: `/users/me` is no `/users/{user_id}`. */
export interface Router {
  find(path: string): Place | undefined;
}

interface Shape {
  /** Text, or what a segment with a name in it must match. */
  segments: (string | RegExp)[];
  byMethod: Map<string, { operation: Operation; names: string[] }>;
}

const apiPrefix = '/api/v1';

export function createRouter(operations: readonly Operation[]): Router {
  const shapes = new Map<string, Shape>();
  for (const operation of operations) {
    const route = operation.http ?? operation.page;
    if (!route) continue;
    const segments = segmentsOf(operation.http ? apiPrefix + route.path : route.path);
    const key = segments.map((segment) => segment.replace(names, '{}')).join('/');
    const shape: Shape = shapes.get(key) ?? { segments: key.split('/').map(toPattern), byMethod: new Map() };
    shapes.set(key, shape);
    shape.byMethod.set(route.method, {
      operation,
      names: [...route.path.matchAll(names)].map((match) => match[1] ?? ''),
    });
  }
  const byLength = new Map<number, Shape[]>();
  for (const shape of [...shapes.values()].sort((a, b) => specificity(b).localeCompare(specificity(a))))
    if (shape.segments.some((segment) => typeof segment !== 'string'))
      byLength.set(shape.segments.length, [...(byLength.get(shape.segments.length) ?? []), shape]);

  return {
    find(path) {
      const segments = segmentsOf(path);
      const shape =
        shapes.get(segments.join('/')) ?? byLength.get(segments.length)?.find((candidate) => fits(candidate, segments));
      if (!shape) return undefined;
      const values = shape.segments.flatMap((segment, index) =>
        typeof segment === 'string' ? [] : (segment.exec(segments[index] ?? '')?.slice(1) ?? []),
      );
      return {
        methods: [...shape.byMethod.keys()],
        operation(method) {
          const found = shape.byMethod.get(method);
          if (!found) return undefined;
          const decoded = values.map((value) => decodeText(value.replaceAll('+', '%2B')));
          return {
            operation: found.operation,
            path: Object.fromEntries(found.names.map((name, index) => [name, decoded[index] ?? ''])),
          };
        },
      };
    },
  };
}

const segmentsOf = (path: string): string[] => path.replace(/^\/|\/$/g, '').split('/');
const names = /\{(\w+)\}/g;
const toPattern = (segment: string): string | RegExp =>
  segment.includes('{}')
    ? new RegExp(
        `^${segment
          .split('{}')
          .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('([^/]+)')}$`,
      )
    : segment;
const specificity = ({ segments }: Shape): string =>
  segments.map((segment) => (typeof segment === 'string' ? '1' : '0')).join('');
const fits = ({ segments }: Shape, path: string[]): boolean =>
  segments.every((segment, index) =>
    typeof segment === 'string' ? segment === path[index] : segment.test(path[index] ?? ''),
  );
