/** The subset of JSON Schema that the contract's schemas use. */
export interface Shape {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  allOf?: Shape[];
  items?: Shape;
  prefixItems?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  additionalProperties?: boolean | Shape;
  description?: string;
  /** The type itself, if no schema describes it. */
  typescript?: string;
  $ref?: string;
}

/** The TypeScript type of a schema. An unsupported construct becomes `unknown`. */
export function typeScriptOf(shape: Shape | boolean): string {
  if (typeof shape === 'boolean') return shape ? 'unknown' : 'never';
  if (shape.typescript !== undefined) return shape.typescript;
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum) return union(shape.enum.map((value) => JSON.stringify(value)));
  const choices = shape.anyOf ?? shape.oneOf;
  if (choices) return union(choices.map(typeScriptOf));
  if (shape.allOf) return shape.allOf.map((part) => `(${typeScriptOf(part)})`).join(' & ');
  if (Array.isArray(shape.type)) return union(shape.type.map((type) => typeScriptOf({ ...shape, type })));
  switch (shape.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return shape.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return shape.prefixItems
        ? `[${shape.prefixItems.map(typeScriptOf).join(', ')}]`
        : `${bracketed(typeScriptOf(shape.items ?? {}))}[]`;
    case 'object':
      return objectOf(shape);
    default:
      return 'unknown';
  }
}

/** An object type; an optional property may also be undefined. */
export function objectOf({ properties = {}, required = [], additionalProperties }: Shape): string {
  const members = Object.entries(properties).map(([name, shape]) => {
    const isOptional = !required.includes(name);
    return `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}${isOptional ? '?' : ''}: ${typeScriptOf(shape)}${isOptional ? ' | undefined' : ''}`;
  });
  const others = typeof additionalProperties === 'object' ? typeScriptOf(additionalProperties) : 'unknown';
  if (additionalProperties !== undefined && additionalProperties !== false)
    members.push(`[name: string]: ${members.length > 0 ? 'unknown' : others}`);
  return members.length === 0 ? 'Record<string, unknown>' : `{ ${members.join('; ')} }`;
}

const union = (types: string[]): string => [...new Set(types)].join(' | ') || 'never';
const bracketed = (type: string): string => (isUnion(type) ? `(${type})` : type);

/** Whether a type has alternatives outside of all brackets. */
function isUnion(type: string): boolean {
  let depth = 0;
  for (const character of type) {
    if ('{[('.includes(character)) depth++;
    else if ('}])'.includes(character)) depth--;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}
