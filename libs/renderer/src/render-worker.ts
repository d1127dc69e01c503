// First: the other imports take most of the start.
import './start-slowly.ts';
import { threadCpuUsage } from 'node:process';
import { threadId } from 'node:worker_threads';
import '@natter/markdown/load-heavy';
import { emptyContext } from '@natter/markdown/render';
import { giveWay } from './give-way.ts';
import { type Job, type Jobs, perform } from './jobs.ts';

/** Written by a thread when it begins a task, read by the pool: the thread's id, and its CPU time at that moment. */
export interface Begun {
  marks: Float64Array;
  slot: number;
}

export interface Done {
  result: Jobs[keyof Jobs]['result'] | undefined;
  cpuMs: number;
}

const usedMs = (): number => {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
};

export default function run({ job, begun }: { job: Job; begun: Begun }): Done {
  const startMs = usedMs();
  begun.marks[2 * begun.slot + 1] = startMs;
  begun.marks[2 * begun.slot] = threadId;
  const result = perform(job);
  return { result, cpuMs: usedMs() - startMs };
}

// Loads the grammars and compiles common code paths before the thread takes its first task, whose time is limited.
const sample =
  '**a** *b* `c` [d](https://e.example) @**f** :smile:\n\n- g\n\n> h\n\n$$x^2$$\n\n```js\nlet i = "j";\n```\n';
for (let round = 0; round < 3; round++)
  perform({
    name: 'render',
    input: {
      content: sample,
      topic: 'about #1',
      context: {
        ...emptyContext,
        linkifiers: [{ id: 0, pattern: '#(?P<n>\\d+)', urlTemplate: 'https://e.example/{n}' }],
      },
    },
  });

// Called last: at low priority, the first threads would start too slowly for the first requests.
giveWay();
