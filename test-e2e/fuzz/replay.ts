import { operations } from '@natter/contracts';
import { bytesOf, type Call, commandOf } from './call.ts';
import { check } from './check.ts';
import { Connection } from './connection.ts';
import type { Neighbour } from './neighbour.ts';
import type { WatchedSystem } from './watched-system.ts';
import { type Operator, openWorld, type RoleName } from './world.ts';

/** Sends requests of earlier findings to a new realm, one after the other. IDs in them may mean something else there. */
export async function replay(
  calls: readonly Call[],
  { watched, operator, neighbour }: { watched: WatchedSystem; operator: Operator; neighbour: Neighbour },
): Promise<void> {
  const world = await openWorld(operator, neighbour.foreign);
  const connection = new Connection(watched.port);
  for (const call of calls) {
    const operation = operations.find(({ name }) => name === call.operation);
    if (!operation) continue;
    console.log(commandOf(call, watched.system.url));
    const bytes = bytesOf(call, world.credentialsOf(call.role as RoleName));
    try {
      const answer = await connection.exchange(bytes, { isHead: call.method === 'HEAD', timeoutMs: 30_000 });
      const { problem } = check(operation, call, answer);
      console.log(
        `  ${answer.status} ${answer.body.toString('utf8', 0, 500)}${problem ? `\n  FINDING ${problem}` : ''}`,
      );
    } catch (error) {
      console.log(`  ${error}`);
    }
  }
  connection.close();
}
