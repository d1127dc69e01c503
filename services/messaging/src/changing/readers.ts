import type { Executor } from '@natter/database';
import type { ReadableMessage } from '../message-reach.ts';

/** Who has read a message. */
export async function readersOf(_executor: Executor, _realmId: number, _message: ReadableMessage): Promise<number[]> {
  return [];
}
