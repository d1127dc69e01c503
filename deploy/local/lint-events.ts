import { allUndeclaredEvents } from './undeclared-events.ts';

/** A part of `npm run lint`. */
const found = allUndeclaredEvents();
for (const one of found) console.error(`not declared in libs/contracts/src/events: ${one}`);
if (found.length > 0) process.exitCode = 1;
