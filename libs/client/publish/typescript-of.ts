/** What the contract's schemas need of JSON Schema. */
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
  $ref?: string;
}

/** The TypeScript type of a schema. What it can't say is `unknown`, never a guess. */
export function typeScriptOf(shape: Shape | boolean): string {
  if (typeof shape === 'boolean') return shape ? 'unknown' : 'never';
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

/** An object type; a property that need not be there is optional and may be given as undefined. */
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
const bracketed = (type: string): string => (type.includes('|') && !/^\{.*\}$/.test(type) ? `(${type})` : type);
