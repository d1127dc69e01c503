export interface Target {
  /** Inputs to begin with. */
  seeds: readonly string[];
  /** Throws if a property is violated. A `ChatError` below 500 is a refusal. */
  run(text: string): void | Promise<void>;
  /** CPU limit for an input, in milliseconds. */
  limitMs: number;
}
