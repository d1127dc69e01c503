import type { Scenario } from '../harness/scenario.ts';
import { catchUp } from './catch-up.ts';
import { channelSize } from './channel-size.ts';
import { commitDelay } from './commit-delay.ts';
import { contention } from './contention.ts';
import { createUsers } from './create-users.ts';
import { delivery } from './delivery.ts';
import { fanOut } from './fan-out.ts';
import { heldPolls } from './held-polls.ts';
import { hostile } from './hostile.ts';
import { instances } from './instances.ts';
import { machine } from './machine.ts';
import { messages } from './messages.ts';
import { neighbours } from './neighbours.ts';
import { overload } from './overload.ts';
import { presence } from './presence.ts';
import { realms } from './realms.ts';
import { register } from './register.ts';
import { scheduled } from './scheduled.ts';
import { search } from './search.ts';
import { send } from './send.ts';
import { slowTexts } from './slow-texts.ts';
import { start } from './start.ts';
import { subscribe } from './subscribe.ts';
import { users } from './users.ts';
import { webClient } from './web-client.ts';

/** In the order in which they run. Scenarios that leave large data behind come late. */
export const scenarios: readonly Scenario[] = [
  machine,
  send,
  delivery,
  slowTexts,
  createUsers,
  scheduled,
  catchUp,
  realms,
  neighbours,
  contention,
  hostile,
  overload,
  commitDelay,
  fanOut,
  heldPolls,
  channelSize,
  register,
  users,
  subscribe,
  presence,
  messages,
  search,
  webClient,
  instances,
  start,
];
