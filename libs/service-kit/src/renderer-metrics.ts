import type { RenderLimit } from '@natter/renderer';
import { Counter } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Counts exceeded rendering limits: a user or realm that exceeds many is likely to be hostile. */
export function watchRenderer({ registry }: Metrics): (limit: RenderLimit) => void {
  const limits = new Counter({
    name: 'natter_render_limits_total',
    help: 'Texts shown as typed, or patterns refused, because rendering hit a limit',
    labelNames: ['limit'],
    registers: [registry],
  });
  return (limit) => limits.inc({ limit });
}
