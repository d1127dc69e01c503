export interface Fault {
  name: string;
  /**
   * `instant`: one part is killed or restarted, its work is done elsewhere at once. `lasting`: something is away for the length
   * of the fault.
   */
  kind: 'instant' | 'lasting';
  /** The reason why the fault can't be caused on this machine. */
  skipped?: string;
  /** Begins it, lets it last, and ends it. */
  cause(): Promise<void>;
}

/** Duration of a lasting fault. */
export const lastsMs = 4_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
