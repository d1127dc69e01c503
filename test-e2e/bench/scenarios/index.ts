import type { Scenario } from '../scenario.ts';
import { machine } from './machine.ts';
import { send } from './send.ts';

export const scenarios: readonly Scenario[] = [machine, send];
