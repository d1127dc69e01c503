/**
 * The one command of an image: runs a service, migrates, and answers what an operator asks.
 * Exit code 0: done; 1: failed, or something is wrong; 2: not understood.
 */
import { type Command, UsageError } from './command.ts';
import { credentials } from './credentials.ts';
import { doctor } from './doctor.ts';
import { createKey, revokeKeys } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { applyParked, dropParked, listParked } from './parked.ts';
import { programs } from './programs.ts';
import { createRealm, listRealms, setRealmUrl } from './realms.ts';
import { afterRestore } from './restore.ts';

const commands: readonly Command[] = [
  migrateCommand,
  doctor,
  createRealm,
  listRealms,
  setRealmUrl,
  createKey,
  revokeKeys,
  listParked,
  applyParked,
  dropParked,
  credentials,
  afterRestore,
];

const [first, ...rest] = process.argv.slice(2);
const program = programs[first ?? ''];
if (program !== undefined) await program();
else process.exit(await runCommand());

async function runCommand(): Promise<number> {
  const command = commands.find(({ name }) => `${[first, ...rest].join(' ')} `.startsWith(`${name} `));
  if (command === undefined) {
    console.error(help());
    return first === 'help' || first === '--help' ? 0 : 2;
  }
  const words = command.name.split(' ').length;
  try {
    return await command.run([first ?? '', ...rest].slice(words));
  } catch (error) {
    console.error(`natter ${command.name}: ${error instanceof Error ? error.message : error}`);
    if (!(error instanceof UsageError)) return 1;
    console.error(`usage: natter ${command.name} ${command.usage}`);
    return 2;
  }
}

function help(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'usage: natter <command> [options]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `Services, each run until a signal: ${Object.keys(programs).join(', ')}`,
  ].join('\n');
}
