/**
 * The values that a client expects. A word is a type (`str`, `int`, `num`, `bool`, `group`, `any`), nullable with `?`;
 * `[shape]` is a list; `{'*': shape}` is a map; other keys are fields, optional if they end in `?`. Imports nothing of
 * the project.
 */
export type Shape = string | [Shape] | { [key: string]: Shape };

const types: Record<string, (value: unknown) => boolean> = {
  str: (value) => typeof value === 'string',
  int: (value) => Number.isSafeInteger(value),
  num: (value) => typeof value === 'number',
  bool: (value) => typeof value === 'boolean',
  any: (value) => value !== undefined,
  group: (value) => {
    if (Number.isSafeInteger(value)) return true;
    const { direct_members, direct_subgroups } = (value ?? {}) as Record<string, unknown>;
    return Array.isArray(direct_members) && Array.isArray(direct_subgroups);
  },
};

/** All places where a value differs from the client's expectation. */
export function problemsOf(value: unknown, shape: Shape, path = ''): string[] {
  if (typeof shape === 'string') {
    if (shape.endsWith('?') && value === null) return [];
    const fits = types[shape.replace('?', '')];
    if (!fits) throw new Error(`no type ${shape}`);
    return fits(value) ? [] : [`${path}: ${shape} expected, got ${JSON.stringify(value)?.slice(0, 80)}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${path}: a list expected, got ${JSON.stringify(value)?.slice(0, 80)}`];
    return value.flatMap((item, index) => problemsOf(item, shape[0], `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path}: an object expected, got ${JSON.stringify(value)?.slice(0, 80)}`];
  const fields = value as Record<string, unknown>;
  return Object.entries(shape).flatMap(([key, inner]) => {
    if (key === '*')
      return Object.entries(fields).flatMap(([name, item]) => problemsOf(item, inner, `${path}.${name}`));
    const name = key.replace(/\?$/, '');
    if (key.endsWith('?') && fields[name] === undefined) return [];
    return problemsOf(fields[name], inner, `${path}.${name}`);
  });
}
