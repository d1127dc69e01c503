import { describeFields } from '@natter/contracts';
import { z } from 'zod';
import { escaped, marked } from './html.ts';

/** A JSON Schema, as far as a reader needs it. */
export interface Shape {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  oneOf?: Shape[];
  items?: Shape;
  additionalProperties?: Shape | boolean;
  default?: unknown;
  properties?: Record<string, Shape>;
  description?: string;
  maxLength?: number;
}

export function shapeOf(schema: z.ZodType): Shape {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;
  describeFields(shape);
  return shape;
}

/** The fields of a value and their descriptions, at every depth. */
export function fieldList(shape: Shape): string {
  const own = Object.entries(shape.properties ?? {}).map(
    ([key, field]) =>
      `<li><code>${escaped(key)}</code> <span class="type">${escaped(typeOf(field))}</span> ${marked(field.description ?? '')}${fieldList(field)}</li>`,
  );
  const list = own.length > 0 ? `<ul class="fields">${own.join('')}</ul>` : '';
  const inner = [shape.items, shape.additionalProperties, ...(shape.anyOf ?? []), ...(shape.oneOf ?? [])];
  return list + inner.map((one) => (typeof one === 'object' ? fieldList(one) : '')).join('');
}

export function typeOf(shape: Shape): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' | ');
  const forms = shape.anyOf ?? shape.oneOf;
  if (forms) return [...new Set(forms.map(typeOf))].join(' | ');
  if (shape.type === 'array') return `${shape.items ? typeOf(shape.items) : 'any'}[]`;
  const limit = shape.maxLength === undefined ? '' : `, at most ${shape.maxLength} characters`;
  return `${Array.isArray(shape.type) ? shape.type.join(' | ') : (shape.type ?? 'any')}${limit}`;
}
