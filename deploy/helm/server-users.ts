/**
 * Writes the permissions of each service in Redis and NATS for the chart's evaluation mode: `npm run ts
 * deploy/helm/server-users.ts`
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { natsPermissionsText, natsUsers, redisRules, redisUserName } from '@natter/service-kit';

export const redisUsersFile = join(import.meta.dirname, 'natter', 'files', 'redis-users.yaml');
export const redisUsersText = (): string =>
  [
    '# Made by deploy/helm/server-users.ts from what the services were written for.',
    ...natsUsers.map((user) => `${redisUserName(user)}: ${JSON.stringify(redisRules(user))}`),
    '',
  ].join('\n');

export const natsUsersFile = join(import.meta.dirname, 'natter', 'files', 'nats-users.yaml');
export const natsUsersText = (): string =>
  [
    '# Made by deploy/helm/server-users.ts from what the services were written for.',
    ...natsUsers.map((user) => `${user}: ${JSON.stringify(natsPermissionsText(user))}`),
    '',
  ].join('\n');

if (process.argv[1] === import.meta.filename) {
  writeFileSync(redisUsersFile, redisUsersText());
  writeFileSync(natsUsersFile, natsUsersText());
}
