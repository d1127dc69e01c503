import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import { commandsOf, filledIn, programOf } from './readme-commands.ts';
import { openTerminal, type Started } from './terminal.ts';

interface Time {
  what: string;
  seconds: number;
  /** The promise of the documentation, as text behind the time. */
  goal: string;
}

/** Pastes all commands of the page, and answers what they print. Returns the times since the first command. */
export async function walk({ root, environment }: Machine, readme: string): Promise<Time[]> {
  const startedAt = Date.now();
  const times: Time[] = [];
  const note = (what: string, goal = ''): void => {
    times.push({ what, seconds: (Date.now() - startedAt) / 1_000, goal });
    console.log(`# ${what} after ${times.at(-1)?.seconds.toFixed(1)} s`);
  };
  const terminal = openTerminal(root, environment);
  const values: Record<string, string> = {};
  const running: Started[] = [];
  let greeting = '';
  let people: Person[] = [];

  const started = {
    server: async (server: Started): Promise<void> => {
      // The table of `npm start` ends with a command that works as pasted, of the member.
      const [, line = ''] = await server.until(/^\s+(curl -u \S+ \S+\/messages .*)$/m);
      await server.until(/ready after/);
      note('the server is ready');
      greeting = line;
      await terminal.run(strict(greeting));
      note('the first message is sent', ', goal 60 s');
      people = await Promise.all(
        ['member', 'member2'].map(async (name) => {
          const [, email = '', key = ''] = await server.until(new RegExp(`^ +${name} +(\\S+) +\\S+ +(\\S+) *$`, 'm'));
          return { email, key };
        }),
      );
      Object.assign(values, { EMAIL: people[0]?.email, API_KEY: people[0]?.key });
    },
    poll: async (poll: Started): Promise<void> => {
      await terminal.run(strict(greeting));
      await poll.until(/"type":"message"/);
      note('a message is followed');
    },
    bot: async (bot: Started): Promise<void> => {
      const [answering, asking] = people;
      if (!answering || !asking) throw new Error('The page starts a bot before the server');
      const hasEnded = bot.ended.then(() => bot.until(/the program has ended/));
      await Promise.race([hasEnded, untilAnswered(asking, answering)]);
      note('a bot answers', ', goal 180 s');
    },
  };

  for (const command of commandsOf(readme)) {
    if (command.kind === 'leave') {
      console.log(`# not run: ${command.line}: ${command.why}`);
      continue;
    }
    const line = filledIn(command.line, values);
    if (command.kind === 'run') {
      const printed = await terminal.run(strict(line));
      const queue = /"queue_id":"([^"]+)"/.exec(printed)?.[1];
      if (queue !== undefined) values.QUEUE_ID = queue;
      continue;
    }
    if (command.of === 'bot') {
      const { name, text } = programOf(readme);
      const directory = (await terminal.run('pwd')).trim();
      writeFileSync(join(root, directory, name), text);
    }
    const one = terminal.start(line);
    running.push(one);
    await started[command.of](one);
  }
  for (const one of running.reverse()) await one.interrupt();
  note('everything is stopped');
  return times;
}

interface Person {
  email: string;
  key: string;
}

/** Writes to a user until an answer comes: the program may not follow events yet when the first message is sent. */
async function untilAnswered(asking: Person, answering: Person): Promise<void> {
  const until = Date.now() + 10 * 60_000;
  const authorization = `Basic ${Buffer.from(`${asking.email}:${asking.key}`).toString('base64')}`;
  const ask = async (path: string, body?: URLSearchParams): Promise<Record<string, unknown>> => {
    const method = body ? 'POST' : 'GET';
    const response = await fetch(`http://127.0.0.1:9991/api/v1${path}`, {
      method,
      headers: { authorization },
      ...(body ? { body } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const narrow = encodeURIComponent(JSON.stringify([['dm', answering.email]]));
  while (Date.now() < until) {
    const form = { type: 'direct', to: JSON.stringify([answering.email]), content: 'Are you there?' };
    await ask('/messages', new URLSearchParams(form));
    for (let look = 0; look < 20; look++) {
      const { messages } = await ask(
        `/messages?anchor=newest&num_before=1&num_after=0&apply_markdown=false&narrow=${narrow}`,
      );
      const [last] = messages as { sender_email: string; content: string }[];
      if (last?.sender_email === answering.email && last.content === 'hello') return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error('The bot did not answer');
}

/** curl succeeds also where the server refuses; a person would see it. */
const strict = (line: string): string => line.replace(/^curl /, 'curl --silent --show-error --fail-with-body ');
