import { afterAll, beforeAll } from 'vitest';
import { start, stop } from './other-settings/system.ts';

import './other-settings/limited-presence.ts';
import './other-settings/mails.ts';
import './other-settings/proxies.ts';
import './other-settings/traces.ts';

beforeAll(start);
afterAll(stop);
