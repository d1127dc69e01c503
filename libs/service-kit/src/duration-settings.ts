import { z } from 'zod';

const unitMs = { milliseconds: 1, seconds: 1_000, minutes: 60_000, hours: 3_600_000 };
type Unit = keyof typeof unitMs;

const dayMs = 86_400_000;
/** Node.js ends timers of more than 2^31 - 1 ms (24.8 days) at once, and `repeat` lengthens pauses by up to a tenth. */
const longestTimerMs = 20 * dayMs;
/** Maximum of other durations. As a number of seconds, it fits into an integer of Postgres. */
const longestMs = 50 * 365 * dayMs;

/** A setting for a time that a timer waits. */
export const timerSetting = (unit: Unit): z.ZodCoercedNumber => atMost(longestTimerMs, unit);

/** A setting for a time that is only compared or stored. */
export const durationSetting = (unit: Unit): z.ZodCoercedNumber => atMost(longestMs, unit);

// `int` first: it replaces an earlier maximum in the JSON Schema.
const atMost = (ms: number, unit: Unit): z.ZodCoercedNumber =>
  z.coerce
    .number()
    .int()
    .max(ms / unitMs[unit]);
