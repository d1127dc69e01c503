import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { gatewayConfig } from '../../services/gateway/src/http/config.ts';
import { memoryBudgets } from '../../services/gateway/src/http/memory-budgets.ts';

const mebibyte = 1024 * 1024;
const chart = join(import.meta.dirname, 'natter');
const page = readFileSync(join(chart, '..', '..', '..', 'docs', 'operating', 'scaling.md'), 'utf8');

const defaultOf = (name: keyof typeof gatewayConfig.shape): number =>
  Number(gatewayConfig.shape[name].parse(undefined));
const budgets = memoryBudgets({
  NATTER_LOG_MEMORY_MIB: defaultOf('NATTER_LOG_MEMORY_MIB'),
  NATTER_BODY_MEMORY_MIB: defaultOf('NATTER_BODY_MEMORY_MIB'),
  NATTER_ANSWER_MEMORY_MIB: defaultOf('NATTER_ANSWER_MEMORY_MIB'),
});
const total = Object.values(budgets).reduce((sum, bytes) => sum + bytes, 0) / mebibyte;

test('the budgets of a gateway leave two fifths of its container and a third of its heap free', () => {
  const { services } = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const [, limit] = /^(\d+)Mi$/.exec(services.gateway.resources.limits.memory) ?? [];
  expect(total).toBeLessThanOrEqual(0.6 * Number(limit));
  const { bodies, blocks } = budgets;
  // Node takes half of the memory of a container for its heap.
  expect(total - (bodies + blocks) / mebibyte).toBeLessThanOrEqual((2 / 3) * (Number(limit) / 2));
});

test('the scaling page states the sum of the budgets', () => {
  expect(page).toMatch(new RegExp(`^\\| together +\\| +\\| ${total} MiB \\|$`, 'm'));
});
