import { afterAll, beforeAll } from 'vitest';
import { start, stop } from './other-settings/system.ts';

import './other-settings/file-ranges.ts';
import './other-settings/limited-presence.ts';
import './other-settings/links.ts';
import './other-settings/mail-limits.ts';
import './other-settings/mails.ts';
import './other-settings/proxies.ts';
import './other-settings/timeouts.ts';
import './other-settings/traces.ts';
import './other-settings/large-organisation.ts';

beforeAll(start);
afterAll(stop);
