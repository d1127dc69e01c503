/**
 * The entry point of the image: runs a service, migrates, and runs the operator's commands. Every command
 * takes `--help` and `--json`. Exit code 0: success; 1: a
 * failure or a failed check; 2: invalid command line.
 */
import { type Command, UsageError } from './command.ts';
import { credentials } from './credentials.ts';
import { deleteRealm } from './delete-realm.ts';
import { doctor } from './doctor.ts';
import { setJwt } from './jwt.ts';
import { createKey, listKeys, revokeKeys } from './keys.ts';
import { listChannels, listQueues } from './lists.ts';
import { awaitSchema, migrateCommand } from './migrate.ts';
import { outputFor } from './output.ts';
import { applyParked, dropParked, listParked } from './parked.ts';
import { createResetLink, createUser, grantRights, listUsers, setRole } from './people.ts';
import { programs } from './programs.ts';
import { createRealm, deactivateRealm, listRealms, reactivateRealm, setRealmUrl } from './realms.ts';
import { afterRestore } from './restore.ts';
import { searchLanguage } from './search-language.ts';

const commands: readonly Command[] = [
  migrateCommand,
  awaitSchema,
  doctor,
  createRealm,
  listRealms,
  setRealmUrl,
  setJwt,
  searchLanguage,
  deactivateRealm,
  reactivateRealm,
  deleteRealm,
  listUsers,
  createUser,
  setRole,
  createResetLink,
  grantRights,
  listKeys,
  createKey,
  revokeKeys,
  listChannels,
  listQueues,
  listParked,
  applyParked,
  dropParked,
  credentials,
  afterRestore,
];

const [first = '', ...rest] = process.argv.slice(2);
const program = Object.hasOwn(programs, first) ? programs[first] : undefined;
if (program === undefined) process.exit(await runCommand());
else if (rest.length > 0) process.exit(explainProgram());
else await program();

/** A service takes no arguments: one with `--help` must not begin to run. */
function explainProgram(): number {
  const isAsked = rest.includes('--help');
  if (!isAsked) console.error(`natter ${first}: a service takes no arguments, but its settings from the environment`);
  const text = `usage: natter ${first}\n\nRun this service until a signal. Its settings come from the environment: docs/settings.md.`;
  (isAsked ? console.log : console.error)(text);
  return isAsked ? 0 : 2;
}

async function runCommand(): Promise<number> {
  const command = commands.find(({ name }) => `${[first, ...rest].join(' ')} `.startsWith(`${name} `));
  if (command === undefined) {
    const ofGroup = commands.filter(({ name }) => name.startsWith(`${first} `));
    const isAsked = first === 'help' || first === '--help' || (ofGroup.length > 0 && rest.includes('--help'));
    const wanted = [first, ...rest.slice(0, 1)].slice(0, ofGroup.length > 0 ? 2 : 1).join(' ');
    if (!isAsked && wanted !== '') console.error(`natter: there is no command "${wanted}"`);
    (isAsked ? console.log : console.error)(help(ofGroup.length > 0 ? ofGroup : commands));
    return isAsked ? 0 : 2;
  }
  const words = command.name.split(' ').length;
  const args = [first, ...rest].slice(words);
  if (args.includes('--help')) {
    console.log(helpOf(command));
    return 0;
  }
  try {
    return await command.run(
      args.filter((arg) => arg !== '--json'),
      outputFor(args.includes('--json')),
    );
  } catch (error) {
    console.error(`natter ${command.name}: ${error instanceof Error ? error.message : error}`);
    if (!(error instanceof UsageError)) return 1;
    console.error(helpOf(command));
    return 2;
  }
}

function helpOf({ name, usage, summary }: Command): string {
  const words = [name, usage, '[--json]'].filter((part) => part !== '').join(' ');
  return `usage: natter ${words}\n\n${summary}.`;
}

function help(listed: readonly Command[]): string {
  const width = Math.max(...listed.map(({ name }) => name.length));
  return [
    'usage: natter <command> [options] [--json]',
    '       natter <command> --help',
    '',
    ...listed.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    `Services, each run until a signal: ${Object.keys(programs).join(', ')}`,
  ].join('\n');
}
