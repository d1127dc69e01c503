import type { Call, Result } from './call.ts';
import type { Shape } from './shape.ts';
import { answerShapes } from './shapes-answers.ts';
import { consumerShapes } from './shapes-consumers.ts';
import { logShapes } from './shapes-log.ts';
import { queueShapes } from './shapes-queues.ts';
import { serviceShapes } from './shapes-services.ts';

const shapes: Shape[] = [...logShapes, ...answerShapes, ...consumerShapes, ...queueShapes, ...serviceShapes];
const known = new Map<string, (call: Call) => Result | Promise<Result>>();

/** Finds the implementation of a statement. Statements that are new in a service must be added to the stand-in. */
export function findShape(shape: string): (call: Call) => Result | Promise<Result> {
  const before = known.get(shape);
  if (before) return before;
  for (const [beginning, execute] of shapes) {
    const match = beginning.exec(shape);
    if (!match) continue;
    const names = match.slice(1);
    const found = (call: Call) => execute(call, ...names);
    known.set(shape, found);
    return found;
  }
  throw new UnknownStatement(shape);
}

/** The stand-in lacks a statement, so the schedule is not conclusive. */
class UnknownStatement extends Error {
  constructor(shape: string) {
    super(`The stand-in for PostgreSQL does not know: ${shape}`);
    this.name = 'UnknownStatement';
  }
}
