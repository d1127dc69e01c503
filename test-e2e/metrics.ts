import type { System } from '@natter/local/system';

/** Returns the metrics that each process of a program exposes to Prometheus. */
export const metricsOf = (system: System, program: string): Promise<string[]> =>
  Promise.all(
    system.children
      .filter((child) => child.program === program)
      .map(async (child) => (await fetch(`http://127.0.0.1:${child.operationsPort()}/metrics`)).text()),
  );

/** The sum of a metric over the processes of a program. `labels`, such as `reason="slow"`, select lines. */
export async function metric(
  system: System,
  program: string,
  name: string,
  ...labels: readonly string[]
): Promise<number> {
  const lines = (await metricsOf(system, program)).flatMap((text) => text.split('\n'));
  return lines
    .filter((line) => /^\w+/.exec(line)?.[0] === name && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
