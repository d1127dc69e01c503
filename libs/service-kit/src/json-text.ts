/** A result that is JSON already: what is large is written once and read by the client alone. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** One object of the members of several, which have no name in common. */
export const joinObjects = (texts: readonly string[]): string =>
  `{${texts
    .map((text) => text.slice(1, -1))
    .filter((members) => members !== '')
    .join(',')}}`;
