/** Guests for whom the same ones of some people are paired with them. */
export interface Alike {
  guests: number[];
  /** Whether they are paired with all of these people. */
  isAll: boolean;
  /** The people with whom they are paired, or the others. */
  people(isPaired: boolean): number[];
}

/** Pairs of a guest and another user, a bit each: realms may have millions. */
export class Pairs {
  readonly guests: readonly number[];
  readonly people: readonly number[];
  readonly #guestAt: ReadonlyMap<number, number>;
  readonly #personAt: ReadonlyMap<number, number>;
  /** For each guest, this many words with a bit for each of the people. */
  readonly #words: number;
  readonly #bits: Uint32Array;

  /** All pairs; nobody is paired with themselves. */
  constructor(guests: readonly number[], people: readonly number[]) {
    this.guests = guests;
    this.people = people;
    this.#guestAt = new Map(guests.map((id, at) => [id, at]));
    this.#personAt = new Map(people.map((id, at) => [id, at]));
    this.#words = Math.ceil(people.length / 32);
    this.#bits = new Uint32Array(guests.length * this.#words).fill(0xffffffff);
    const spare = people.length % 32;
    if (spare > 0)
      for (let end = this.#words; end <= this.#bits.length; end += this.#words) this.#bits[end - 1] = 2 ** spare - 1;
    for (const id of guests) this.remove(id, [id]);
  }

  remove(guestId: number, people: readonly number[]): void {
    const row = this.#guestAt.get(guestId);
    if (row === undefined) return;
    for (const id of people) {
      const at = this.#personAt.get(id);
      if (at !== undefined) this.#bits[this.#wordOf(row, at)] = this.#word(row, at) & ~bitOf(at);
    }
  }

  /** The people who are paired with this guest. */
  peopleOf(guestId: number): number[] {
    const row = this.#guestAt.get(guestId);
    return row === undefined ? [] : this.people.filter((_, at) => this.#has(row, at));
  }

  /** The guests who are paired with this user. */
  guestsOf(personId: number): number[] {
    const at = this.#personAt.get(personId);
    return at === undefined ? [] : this.guests.filter((_, row) => this.#has(row, at));
  }

  /** The people who are paired with a guest. */
  paired(): number[] {
    const any = new Uint32Array(this.#words);
    this.#bits.forEach((bits, at) => {
      any[at % any.length] = (any[at % any.length] ?? 0) | bits;
    });
    return this.people.filter((_, at) => ((any[at >> 5] ?? 0) & bitOf(at)) !== 0);
  }

  /** The guests who are paired with some of these people, by which ones these are. */
  alike(people: readonly number[]): Alike[] {
    const columns = people.map((id) => this.#personAt.get(id) ?? -1);
    const masks = new Map<number, number>();
    for (const at of columns) if (at >= 0) masks.set(at >> 5, (masks.get(at >> 5) ?? 0) | bitOf(at));
    const words = [...masks.keys()];
    const wanted = Uint32Array.from(masks.values());
    const found = new Uint32Array(words.length);
    const bytes = Buffer.from(found.buffer);
    const all: number[] = [];
    const some = new Map<string, number[]>();
    for (let row = 0; row < this.guests.length; row++) {
      let isNone = true;
      let isAll = true;
      for (let index = 0; index < words.length; index++) {
        const mask = wanted[index] ?? 0;
        const bits = ((this.#bits[row * this.#words + (words[index] ?? 0)] ?? 0) & mask) >>> 0;
        found[index] = bits;
        isNone &&= bits === 0;
        isAll &&= bits === mask;
      }
      if (isNone) continue;
      if (isAll) {
        all.push(row);
        continue;
      }
      const key = bytes.toString('latin1');
      const known = some.get(key);
      if (known) known.push(row);
      else some.set(key, [row]);
    }
    const isWhole = !columns.includes(-1);
    return [...(all.length > 0 ? [all] : []), ...some.values()].map((rows) => ({
      guests: rows.map((row) => this.guests[row] as number),
      isAll: rows === all && isWhole,
      people: (isPaired) =>
        people.filter((_, index) => this.#has(rows[0] as number, columns[index] as number) === isPaired),
    }));
  }

  #has(row: number, at: number): boolean {
    return at >= 0 && (this.#word(row, at) & bitOf(at)) !== 0;
  }

  #word(row: number, at: number): number {
    return this.#bits[this.#wordOf(row, at)] ?? 0;
  }

  #wordOf(row: number, at: number): number {
    return row * this.#words + (at >> 5);
  }
}

const bitOf = (at: number): number => 1 << (at & 31);
