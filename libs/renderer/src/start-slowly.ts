import { giveWay } from './give-way.ts';

/** The first threads start while nobody has a spare one. Later ones replace a thread that slow content ended. */
const startSeconds = 60;
if (process.uptime() > startSeconds) giveWay();
