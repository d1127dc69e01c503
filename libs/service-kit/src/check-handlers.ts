import { type Operation, type ServiceName, servedOperations } from '@natter/contracts';
import { isWrite } from './answer-once.ts';

interface Handled {
  operation: Pick<Operation, 'name' | 'isReadOnly' | 'http' | 'page'>;
  isWrite?: true;
}

/**
 * Fails unless the service handles each of its operations exactly once, no other operation, and writes with
 * `handleWrite`.
 */
export function checkHandlers(name: ServiceName, handlers: readonly Handled[]): void {
  const declared = servedOperations.filter(({ service }) => service === name).map((operation) => operation.name);
  const handled = handlers.map(({ operation }) => operation.name);
  const problems = {
    'not handled': declared.filter((one) => !handled.includes(one)),
    'not declared': handled.filter((one) => !declared.includes(one)),
    'handled twice': handled.filter((one, index) => handled.indexOf(one) !== index),
    'a write that is handled as a read, or the reverse': handlers
      .filter((handler) => (handler.isWrite ?? false) !== isWrite(handler.operation))
      .map(({ operation }) => operation.name),
  };
  const found = Object.entries(problems).filter(([, names]) => names.length > 0);
  if (found.length === 0) return;
  const list = found.map(([problem, names]) => `${problem}: ${names.join(', ')}`).join('; ');
  throw new Error(`The handlers of ${name} differ from its operations: ${list}`);
}
