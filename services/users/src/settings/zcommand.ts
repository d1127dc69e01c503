import { badRequest, settingsOperations } from '@natter/contracts';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { lockAccount, noSuchUser } from '../model/find-account.ts';
import { storeValues } from './settings.ts';

interface Command {
  setting: { color_scheme: 2 | 3 } | { fluid_layout_width: boolean };
  kind: 'theme' | 'width mode';
  is: string;
  /** The command that reverts it. */
  back: string;
}

const dark: Command = { setting: { color_scheme: 2 }, kind: 'theme', is: 'dark', back: 'light' };
const light: Command = { setting: { color_scheme: 3 }, kind: 'theme', is: 'light', back: 'dark' };
const fluid: Command = { setting: { fluid_layout_width: true }, kind: 'width mode', is: 'fluid', back: 'fixed-width' };
const fixed: Command = { setting: { fluid_layout_width: false }, kind: 'width mode', is: 'fixed', back: 'fluid-width' };
const commands = new Map([
  ['dark', dark],
  ['night', dark],
  ['light', light],
  ['day', light],
  ['fluid-width', fluid],
  ['fixed-width', fixed],
]);

/** Slash commands that clients pass on as typed. */
export const commandHandlers = (): Handlers => [
  handleWrite(settingsOperations.runCommand, async (context, params) => {
    const typed = params.command.trim();
    if (!typed.startsWith('/')) throw badRequest('There should be a leading slash in the zcommand.');
    const name = typed.slice(1);
    if (name === 'ping') return {};
    const command = commands.get(name);
    if (!command) throw badRequest(`No such command: ${name}`);
    const { setting, kind, is, back } = command;
    return context.write(async (work) => {
      const row = await lockAccount(work, context.actor.userId);
      if (!row) throw noSuchUser();
      const unchanged = await storeValues(work, row, setting);
      if (unchanged.length > 0) return { msg: `You are still in ${is} ${kind}.` };
      return { msg: `Changed to ${is} ${kind}! To revert ${kind}, type \`/${back}\`.` };
    });
  }),
];
