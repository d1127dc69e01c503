import { createHmac } from 'node:crypto';

/** Who connects to NATS; each has a user of its own. `operator` is for commands and setup. */
export const natsUsers = [
  'gateway',
  'users',
  'channels',
  'messaging',
  'scheduler',
  'presence',
  'event-queue',
  'operator',
] as const;
export type NatsUser = (typeof natsUsers)[number];

/** What a user may do; the same for a server's configuration file and for a cluster's. */
export function natsPermissions(user: NatsUser): { publish: string[]; subscribe: string[] } {
  return {
    // Two or three tokens are hints. Four are requests, and end with the name of who asks: nobody can ask in another's name.
    publish: [
      'natter.*',
      'natter.*.*',
      `natter.*.*.${user}`,
      'natter-parts.>',
      ...(user === 'operator' ? ['$SRV.>'] : []),
    ],
    subscribe: [
      'natter.*',
      'natter.*.*',
      ...(user === 'gateway' || user === 'operator' ? [] : [`natter.${user}.*.*`, '$SRV.>']),
      `natter-parts.${user}.>`,
      `_INBOX.${user}.>`,
    ],
  };
}

/** The `authorization` block of a NATS configuration. */
export function natsAuthorization(passwordOf: (user: NatsUser) => string): string {
  const users = natsUsers.map((user) => {
    const { publish, subscribe } = natsPermissions(user);
    const permissions = `publish: { allow: ${JSON.stringify(publish)} }, subscribe: { allow: ${JSON.stringify(subscribe)} }, allow_responses: true`;
    return `  { user: ${JSON.stringify(user)}, password: ${JSON.stringify(passwordOf(user))}, permissions: { ${permissions} } }`;
  });
  return `authorization {\n users: [\n${users.join('\n')}\n ]\n}`;
}

/** One secret gives every user a password of its own. */
export const derivedPassword = (secret: string, user: string): string =>
  createHmac('sha256', secret).update(user).digest('hex').slice(0, 40);
