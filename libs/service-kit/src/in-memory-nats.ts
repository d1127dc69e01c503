import { headers, type Msg, type MsgHdrs, type NatsConnection, TimeoutError } from '@nats-io/nats-core';

/** For tests: what NATS carries in one message, and throws for if it is larger. */
export const maxPayload = 1024 * 1024;

type Callback = (error: null, message: Msg) => void;
type Reply = (data: Uint8Array, options?: { headers?: MsgHdrs }) => void;

const subscription = { closed: new Promise<void>(() => undefined), unsubscribe: () => undefined };

/** Carries requests between processes in memory. `lose` decides which answers are lost. */
export function broker(lose: (asked: number) => boolean = () => false, carries = maxPayload) {
  const receivers = new Map<string, (message: Msg) => void>();
  const confirmed: string[] = [];
  let asked = 0;
  const messageWith = (payload: string | Uint8Array, reply?: Reply): Msg =>
    ({
      headers: headers(),
      string: () => Buffer.from(payload).toString(),
      ...(reply ? { reply: 'inbox' } : {}),
      respond: (data: string | Uint8Array = '', options?: { headers?: MsgHdrs }) => {
        const bytes = Buffer.from(data);
        if (bytes.length > carries) throw new Error('max_payload size exceeded');
        reply?.(bytes, options);
      },
    }) as unknown as Msg;
  const connection = {
    subscribe: (subject: string, { callback }: { callback: Callback }) => {
      receivers.set(subject, (message) => callback(null, message));
      return subscription;
    },
    publish: (subject: string, name: string) => {
      confirmed.push(name);
      receivers.get(subject)?.(messageWith(name));
    },
    request: (subject: string, payload: string | Uint8Array) =>
      new Promise((resolve, reject) => {
        const isLost = lose(++asked);
        receivers.get(subject)?.(
          messageWith(payload, (data, options) => {
            if (isLost) reject(new TimeoutError());
            else resolve({ data, headers: options?.headers });
          }),
        );
      }),
  };
  return { connection: connection as unknown as NatsConnection, confirmed };
}
