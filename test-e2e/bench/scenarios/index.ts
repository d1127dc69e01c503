import type { Scenario } from '../scenario.ts';
import { channelSize } from './channel-size.ts';
import { delivery } from './delivery.ts';
import { fanOut } from './fan-out.ts';
import { heldPolls } from './held-polls.ts';
import { machine } from './machine.ts';
import { register } from './register.ts';
import { send } from './send.ts';
import { users } from './users.ts';

export const scenarios: readonly Scenario[] = [
  machine,
  send,
  delivery,
  fanOut,
  channelSize,
  heldPolls,
  register,
  users,
];
