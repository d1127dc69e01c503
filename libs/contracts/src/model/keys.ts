/** `Object.keys`, for an object that has no other keys than its type names. */
export const keysOf = <T extends object>(object: T): (keyof T & string)[] =>
  Object.keys(object) as (keyof T & string)[];

/** `Object.entries`, for the same. */
export const entriesOf = <T extends object>(object: T): [keyof T & string, T[keyof T]][] =>
  keysOf(object).map((key) => [key, object[key]]);

/** An object with a value for each of the keys. */
export const recordOf = <K extends string, V>(keys: readonly K[], make: (key: K) => V): Record<K, V> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

/** Some of the properties of an object. */
export const partOf = <T extends object>(object: T, keys: readonly (keyof T & string)[]): Partial<T> =>
  Object.fromEntries(keys.map((key) => [key, object[key]])) as Partial<T>;
