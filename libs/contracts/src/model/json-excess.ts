const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether JSON has more lists and objects in each other than this, or more items and keys in all. Reads it from the
 * text, before memory and time are spent on the value: checking each of a million wrong items takes seconds, and
 * functions that call themselves for each level, such as `JSON.stringify`, throw for thousands of levels.
 */
export function excessOf(json: string, levels: number, parts: number): 'levels' | 'parts' | undefined {
  let [depth, count] = [0, 0];
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (isText) {
      if (unit === backslash) at++;
      else if (unit === quote) isText = false;
    } else if (unit === quote) isText = true;
    else if (unit === comma) count++;
    else if (unit === openList || unit === openObject) {
      if (++depth > levels) return 'levels';
      count++;
    } else if (unit === closeList || unit === closeObject) depth--;
    if (count > parts) return 'parts';
  }
  return undefined;
}
