import { type Bus, scheduledSubject as subject } from '@natter/service-kit';

/** A time for hints that something is due now. The clock of this machine may differ from that of the database. */
export const dueNow = 0;

/** Hints to schedulers that something is due at a time, in seconds; they also poll. */
export const hintScheduler =
  (bus: Bus) =>
  (dueSeconds: number): void =>
    bus.publish(subject, String(dueSeconds));

export const onSchedulerHint = (bus: Bus, listen: (dueSeconds: number) => void): (() => void) =>
  bus.subscribe(subject, (payload) => listen(Number(new TextDecoder().decode(payload))));
