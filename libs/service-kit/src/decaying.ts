/** A sum of recent amounts: each amount counts half after the half-life, a quarter after twice the half-life. */
export class Decaying {
  #sum = 0;
  #at: number;
  readonly #now: () => number;
  readonly #halfLifeMs: number;

  constructor(now: () => number, halfLifeMs: number) {
    this.#now = now;
    this.#at = now();
    this.#halfLifeMs = halfLifeMs;
  }

  get sum(): number {
    const at = this.#now();
    this.#sum *= 0.5 ** ((at - this.#at) / this.#halfLifeMs);
    this.#at = at;
    return this.#sum;
  }

  /** The mean amount that was recently added in a millisecond. */
  get perMs(): number {
    return (this.sum * Math.LN2) / this.#halfLifeMs;
  }

  add(amount: number): void {
    this.#sum = this.sum + amount;
  }
}
