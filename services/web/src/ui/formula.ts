/** The greatest distances by which a formula may raise or lower a part of it. */
const mostRaised: Readonly<Record<string, number>> = { em: 1, ex: 2, pt: 10 };

/** The position of an attribute: the name of its element, and whether an element around it sets the size of the text. */
interface Position {
  tag: string;
  isResized: boolean;
}

/**
 * The value that an attribute of MathML keeps; undefined if it is removed. A formula could otherwise write outside its own
 * place, grow without limit, or paint a background under a text. Its colours would not fit the theme of the reader.
 */
export function formulaValue(name: string, value: string, { tag, isResized }: Position): string | undefined {
  switch (name) {
    case 'mathcolor':
      return undefined;
    case 'mathbackground':
      // A rule is an empty element with a background.
      return tag === 'mspace' ? 'currentcolor' : undefined;
    case 'mathsize':
      return isResized ? undefined : value;
    case 'voffset': {
      const [, digits, unit = ''] = /^([-+]?[\d.]+)([a-z]+)$/.exec(value) ?? [];
      return Math.abs(Number(digits)) <= (mostRaised[unit] ?? 0) ? value : undefined;
    }
    default:
      return value;
  }
}
