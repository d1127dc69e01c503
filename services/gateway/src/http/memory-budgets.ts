import { keptBlockBytes } from '@natter/service-kit';
import type { GatewayConfig } from './config.ts';

const mebibyte = 1024 * 1024;

type Limits = Pick<GatewayConfig, 'NATTER_LOG_MEMORY_MIB' | 'NATTER_BODY_MEMORY_MIB' | 'NATTER_ANSWER_MEMORY_MIB'>;

/**
 * The budgets of a gateway's memory, in bytes. The limit of the container must leave as much again
 * for code, connections, requests in flight and garbage: a test compares the defaults with the chart.
 */
export const memoryBudgets = (config: Limits) => ({
  /** Recent entries of the logs. */
  entries: config.NATTER_LOG_MEMORY_MIB * mebibyte * (3 / 4),
  /** The texts that queues share of entries. */
  texts: config.NATTER_LOG_MEMORY_MIB * mebibyte * (1 / 4),
  bodies: config.NATTER_BODY_MEMORY_MIB * mebibyte,
  answers: config.NATTER_ANSWER_MEMORY_MIB * mebibyte,
  /** Records of queues that are polled. A usual one takes 3 KB. */
  queues: 64 * mebibyte,
  /** Users of credentials that were shown recently. A usual one takes 1 KB. */
  actors: 64 * mebibyte,
  /** Blocks of answers that several requests share. */
  blocks: keptBlockBytes,
});
