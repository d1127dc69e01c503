import { operations } from '@natter/contracts';
import type { Findings } from './findings.ts';
import { type Call, commandOf } from './requests/call.ts';
import { Connection } from './requests/connection.ts';
import { createAsker } from './target/asker.ts';
import { createCoverage } from './target/coverage.ts';
import type { Neighbour } from './target/neighbour.ts';
import type { WatchedSystem } from './target/watched-system.ts';
import { type Operator, openWorld, type RoleName, roleNames } from './target/world.ts';

interface ReplayOptions {
  watched: WatchedSystem;
  operator: Operator;
  neighbour: Neighbour;
  findings: Findings;
}

/**
 * Sends requests of earlier findings to a new realm sequentially, and checks the answers like the run did. Ids in them
 * may have another meaning there. Returns the number of requests.
 */
export async function replay(calls: readonly Call[], options: ReplayOptions): Promise<number> {
  const { watched, operator, neighbour, findings } = options;
  const world = await openWorld(operator, neighbour.foreign);
  const asker = createAsker({ watched, neighbour, coverage: createCoverage() });
  const connection = new Connection(watched.port);
  for (const call of calls) {
    const operation = operations.find(({ name }) => name === call.operation);
    if (!operation) {
      console.log(`${call.operation} is no longer in the contract`);
      continue;
    }
    console.log(commandOf(call, watched.system.url));
    const role = roleNames.find((name) => name === call.role) ?? sequenceRole(call.role);
    const credentials =
      role === 'anonymous' ? { host: neighbour.host, authorization: undefined } : world.credentialsOf(role);
    const { problem, answer } = await asker.ask(operation, call, { credentials, connection });
    console.log(`  ${answer ? `${answer.code} ${JSON.stringify(answer.json)?.slice(0, 500) ?? ''}` : 'no answer'}`);
    if (problem !== undefined) findings.add(problem, call);
  }
  connection.close();
  return asker.count();
}

/** Callers of sequences have their own role names. */
const sequenceRole = (role: string): RoleName => (role === 'promoted' ? 'administrator' : 'member');
