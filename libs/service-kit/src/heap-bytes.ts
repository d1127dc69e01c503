/** Bytes of an empty string, an empty object and an empty array. */
const [ofString, ofObject, ofArray] = [24, 32, 40];
/** A property or an item; a part of a property belongs to the description of its object. */
const [perProperty, perItem] = [16, 8];
/** A number that is no small integer has an object of its own. */
const ofNumber = 16;

/**
 * Memory of a string in the heap. One character above U+00FF doubles the memory of all others. All texts outside of ASCII
 * count as such, because they are found much faster.
 */
export const stringBytes = (text: string): number =>
  ofString + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);

/** Memory of a parsed JSON value in the heap, without what its holder needs for the reference. An estimate for budgets. */
export function heapBytes(value: unknown): number {
  if (typeof value === 'string') return stringBytes(value);
  if (typeof value === 'number') return (value | 0) === value ? 0 : ofNumber;
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + perItem + heapBytes(item), ofArray);
  return objectBytes(value);
}

/** The loop makes no list of keys or values. */
function objectBytes<T extends object>(object: T): number {
  let bytes = ofObject;
  for (const key in object) bytes += perProperty + heapBytes(object[key]);
  return bytes;
}
