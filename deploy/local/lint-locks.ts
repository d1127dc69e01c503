import { allUnregisteredLocks } from './unregistered-locks.ts';

/** A part of `npm run lint`. */
const found = allUnregisteredLocks();
for (const one of found) console.error(`not in libs/contracts/src/model/locks.ts: ${one}`);
if (found.length > 0) process.exitCode = 1;
