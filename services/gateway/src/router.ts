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
  segments: string[];
  byMethod: Map<string, { operation: Operation; names: string[] }>;
}

export const apiPrefix = '/api/v1';

export function createRouter(operations: readonly Operation[]): Router {
  const shapes = new Map<string, Shape>();
  for (const operation of operations) {
    const route = operation.http ?? operation.page;
    if (!route) continue;
    const segments = segmentsOf(operation.http ? apiPrefix + route.path : route.path);
    const key = segments.map((segment) => (isName(segment) ? '{}' : segment)).join('/');
    const shape: Shape = shapes.get(key) ?? { segments: key.split('/'), byMethod: new Map() };
    shapes.set(key, shape);
    shape.byMethod.set(route.method, {
      operation,
      names: segments.filter(isName).map((segment) => segment.slice(1, -1)),
    });
  }
  const byLength = new Map<number, Shape[]>();
  for (const shape of [...shapes.values()].sort((a, b) => specificity(b).localeCompare(specificity(a))))
    if (shape.segments.includes('{}'))
      byLength.set(shape.segments.length, [...(byLength.get(shape.segments.length) ?? []), shape]);

  return {
    find(path) {
      const segments = segmentsOf(path);
      const shape =
        shapes.get(segments.join('/')) ?? byLength.get(segments.length)?.find((candidate) => fits(candidate, segments));
      if (!shape) return undefined;
      const values = segments.filter((_, index) => shape.segments[index] === '{}');
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
const isName = (segment: string): boolean => /^\{\w+\}$/.test(segment);
const specificity = ({ segments }: Shape): string => segments.map((segment) => (segment === '{}' ? '0' : '1')).join('');
const fits = ({ segments }: Shape, path: string[]): boolean =>
  segments.every((segment, index) => (segment === '{}' ? path[index] !== '' : segment === path[index]));
