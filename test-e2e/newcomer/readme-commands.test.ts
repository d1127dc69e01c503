import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf, filledIn, programOf } from './readme-commands.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

test('the commands of the README begin with a clone, and start a server, a poll and a bot', () => {
  const commands = commandsOf(readme);
  expect(commands[0]?.line).toMatch(/^git clone https:\S+ && cd \w+$/);
  expect(commands.flatMap((each) => (each.kind === 'start' ? [each.of] : []))).toEqual(['server', 'poll', 'bot']);
  expect(programOf(readme)).toEqual({ name: 'bot.mjs', text: expect.stringContaining('follow(client') });
});

test('placeholders in capitals are replaced, and names of variables are kept', () => {
  const values = { EMAIL: 'a@b.example', API_KEY: 'key', QUEUE_ID: 'q' };
  const filled = 'NATTER_EMAIL=a@b.example NATTER_API_KEY=key curl -u a@b.example:key ?queue_id=q&';
  expect(filledIn('NATTER_EMAIL=EMAIL NATTER_API_KEY=API_KEY curl -u EMAIL:API_KEY ?queue_id=QUEUE_ID&', values)).toBe(
    filled,
  );
});

test('a command that is added to the page is run', () => {
  expect(commandsOf('```sh\nnpm run new   # does something\n```\n')).toEqual([{ kind: 'run', line: 'npm run new' }]);
});
