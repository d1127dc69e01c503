import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';
import type { Logger } from './logging.ts';

/**
 * The only way to subscribe to a subject. An error that leaves a callback ends the loop in which the NATS client reads: the
 * process would receive nothing until its connection counts as broken, after four seconds. So the error is only logged.
 */
export function subscribe(
  nats: NatsConnection,
  subject: string,
  log: Pick<Logger, 'error'>,
  receive: (message: Msg) => void,
): Subscription {
  return nats.subscribe(subject, {
    callback: (error, message) => {
      if (error) return;
      try {
        receive(message);
      } catch (failure) {
        log.error({ err: failure, subject: message.subject }, 'a message on NATS could not be handled');
      }
    },
  });
}
