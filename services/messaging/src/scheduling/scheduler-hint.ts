import { type Bus, scheduledSubject as subject } from '@natter/service-kit';

/** Tells schedulers that something is due at a time, in seconds; only a hint, they also look by themselves. */
export const hintScheduler =
  (bus: Bus) =>
  (dueSeconds: number): void =>
    bus.publish(subject, String(dueSeconds));

export const onSchedulerHint = (bus: Bus, listen: (dueSeconds: number) => void): (() => void) =>
  bus.subscribe(subject, (payload) => listen(Number(new TextDecoder().decode(payload))));
