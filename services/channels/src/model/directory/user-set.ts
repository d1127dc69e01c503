const bitsPerWord = 32;

/** Numbers the users of a realm, so that a set of them needs a bit for each. */
export class Numbers {
  private readonly byId = new Map<number, number>();
  private readonly ids: number[] = [];

  of(userId: number): number {
    const known = this.byId.get(userId);
    if (known !== undefined) return known;
    this.byId.set(userId, this.ids.length);
    return this.ids.push(userId) - 1;
  }

  find(userId: number): number | undefined {
    return this.byId.get(userId);
  }

  idOf(number: number): number {
    return this.ids[number] ?? 0;
  }
}

/**
 * A set of users as bits. A realm can have 10,000 groups that each contain all its users: as sets of ids they would
 * take gigabytes.
 */
export class UserSet implements Iterable<number> {
  private readonly numbers: Numbers;
  private words = new Uint32Array(0);

  constructor(numbers: Numbers, userIds: Iterable<number> = []) {
    this.numbers = numbers;
    for (const userId of userIds) this.add(userId);
  }

  has(userId: number): boolean {
    const number = this.numbers.find(userId);
    return number !== undefined && ((this.words[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  add(userId: number): void {
    const number = this.numbers.of(userId);
    const at = number >>> 5;
    if (at >= this.words.length) this.grow(Math.max(at + 1, 2 * this.words.length));
    this.words[at] = (this.words[at] ?? 0) | (1 << (number & 31));
  }

  addAll({ words }: UserSet): this {
    if (words.length > this.words.length) this.grow(words.length);
    words.forEach((word, at) => {
      this.words[at] = (this.words[at] ?? 0) | word;
    });
    return this;
  }

  deleteAll({ words }: UserSet): this {
    this.words.forEach((word, at) => {
      this.words[at] = word & ~(words[at] ?? 0);
    });
    return this;
  }

  keepAll({ words }: UserSet): this {
    this.words.forEach((word, at) => {
      this.words[at] = word & (words[at] ?? 0);
    });
    return this;
  }

  copy(): UserSet {
    return new UserSet(this.numbers).addAll(this);
  }

  /** A key that is equal for sets with the same users. */
  get key(): string {
    const end = this.words.findLastIndex((word) => word !== 0) + 1;
    return Buffer.from(this.words.buffer, 0, end * 4).toString('latin1');
  }

  get isEmpty(): boolean {
    return this.words.every((word) => word === 0);
  }

  /** The same as a spread of the set, in a quarter of the time. */
  list(): number[] {
    const ids: number[] = [];
    this.words.forEach((word, at) => {
      for (let bit = 0; bit < bitsPerWord && word >>> bit !== 0; bit++)
        if (word & (1 << bit)) ids.push(this.numbers.idOf(at * bitsPerWord + bit));
    });
    return ids;
  }

  *[Symbol.iterator](): Generator<number> {
    for (const [at, word] of this.words.entries())
      for (let bit = 0; word !== 0 && bit < bitsPerWord; bit++)
        if (word & (1 << bit)) yield this.numbers.idOf(at * bitsPerWord + bit);
  }

  private grow(length: number): void {
    const larger = new Uint32Array(length);
    larger.set(this.words);
    this.words = larger;
  }
}
