/** Stops a part of a process. At once it takes no more work; the promise ends with the work that it has taken. */
export type Stop = () => void | Promise<void>;

/** Stops parts of a process: first none takes more work, then all are awaited, also if one fails. */
export async function stopAll(parts: readonly Stop[]): Promise<void> {
  const ended = await Promise.allSettled(parts.map(async (stop) => stop()));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
