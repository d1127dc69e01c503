import { now } from '../../measure/statistics.ts';
import type { LoadResult } from './job.ts';

/** Collects the results of a load process, from its creation on. */
export class Recorder {
  private samples: number[] = [];
  private startedAt: number[] = [];
  private refused: number[] = [];
  private failures = new Set<string>();
  private since = now();
  private cpu = process.cpuUsage();
  failed = 0;
  bytes = 0;

  get count(): number {
    return this.samples.length;
  }

  took(milliseconds: number, startedAt?: number): void {
    this.samples.push(milliseconds);
    if (startedAt !== undefined) this.startedAt.push(startedAt);
  }

  fail(reason: string): void {
    this.failed++;
    if (this.failures.size < 5) this.failures.add(reason.slice(0, 300));
  }

  refuse(milliseconds: number, reason: string): void {
    this.refused.push(milliseconds);
    this.fail(reason);
  }

  end(): LoadResult {
    const { user, system } = process.cpuUsage(this.cpu);
    return {
      samples: Float64Array.from(this.samples),
      startedAt: Float64Array.from(this.startedAt),
      failed: this.failed,
      failures: [...this.failures],
      refused: Float64Array.from(this.refused),
      seconds: (now() - this.since) / 1000,
      bytes: this.bytes,
      cpuMs: (user + system) / 1000,
    };
  }
}
