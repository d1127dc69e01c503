import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, commandOf } from './requests/call.ts';

interface Finding {
  problem: string;
  count: number;
}

/** Findings, one per kind, with the request that demonstrates it. */
export interface Findings {
  /** True for the first of its kind. */
  add(problem: string, call?: Call): boolean;
  /** Records a simpler request that demonstrates the same. */
  simplify(problem: string, call: Call): void;
  readonly all: readonly Finding[];
}

export function createFindings(directory: string, url: string): Findings {
  const byKind = new Map<string, Finding>();
  const file = join(directory, 'findings.jsonl');
  const show = (what: string, problem: string, call: Call | undefined): void => {
    console.log(
      `${what}: ${call ? `${call.operation} as ${call.role}${call.mutation ? `, ${call.mutation}` : ''}: ` : ''}${problem}`,
    );
    if (call) console.log(`  ${commandOf(call, url)}`);
    appendFileSync(file, `${JSON.stringify({ problem, call: call && stored(call) })}\n`);
  };
  return {
    add(problem, call) {
      const kind = kindOf(problem, call);
      const known = byKind.get(kind);
      if (known) {
        known.count++;
        return false;
      }
      byKind.set(kind, { problem: `${call ? `${call.operation}: ` : ''}${problem}`, count: 1 });
      show('FINDING', problem, call);
      return true;
    },
    simplify: (problem, call) => show('  shrunk', problem, call),
    get all() {
      return [...byKind.values()];
    },
  };
}

/** Independent of the operation. */
const isOfTransport = /^(an error without result|the connection was closed|Error: |status 4)/;

/** Problems that differ only in numbers, quoted values or names are of one kind. */
export function kindOf(problem: string, call: Call | undefined): string {
  const plain = problem
    .replace(/"[^"]*"/g, '""')
    .replace(/'[^']*'/g, "''")
    .replace(/\d+/g, '0')
    .slice(0, 160);
  return isOfTransport.test(problem) ? plain : `${call?.operation ?? ''} ${plain}`;
}

const stored = (call: Call): unknown => ({
  ...call,
  file: call.file && { ...call.file, bytes: call.file.bytes.toString('base64') },
});

/** The request of a line in the findings file. */
export function restored(line: string): Call | undefined {
  const { call } = JSON.parse(line);
  if (!call) return undefined;
  return { ...call, file: call.file && { ...call.file, bytes: Buffer.from(call.file.bytes, 'base64') } };
}
