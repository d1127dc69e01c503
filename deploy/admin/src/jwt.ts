import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { jwtAlgorithms, jwtOperations } from '@natter/contracts';
import { type Command, readOptions, UsageError } from './command.ts';
import { realmOf, withBus } from './operator-bus.ts';

export const setJwt: Command = {
  name: 'realm jwt',
  usage: `--host HOST (--algorithm ${jwtAlgorithms.join('|')} --key-file FILE|- | --off)`,
  summary: 'Let another system log in the users of a realm with tokens that it signs, or not any more',
  run: async (args, output) => {
    const options = readOptions(args, ['host'], ['algorithm', 'key-file'], ['off']);
    const { host, 'key-file': file } = options;
    const algorithm = jwtAlgorithms.find((one) => one === options.algorithm);
    const isOff = options.flags.has('off');
    if (isOff ? options.algorithm !== undefined || file !== undefined : algorithm === undefined || file === undefined)
      throw new UsageError(`either --off, or --key-file with --algorithm ${jwtAlgorithms.join(', ')}`);
    // A file, because other users of the machine see arguments. Its last line may end with a line break.
    const key = file === undefined ? undefined : (await readKey(file)).replace(/\r?\n$/, '');
    return withBus(async (bus) => {
      const meta = await realmOf(bus, host);
      await bus.call(jwtOperations.setJwtKey, { algorithm, key }, { meta });
      const done = isOff
        ? `tokens log in nobody at ${host}`
        : `tokens signed with ${algorithm} log in users of ${host}`;
      output.done(done, { host, algorithm: algorithm ?? null });
      return 0;
    });
  },
};

/** In a container, files of the operator's machine do not exist: `-` stands for standard input. */
const readKey = (file: string): Promise<string> => (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
