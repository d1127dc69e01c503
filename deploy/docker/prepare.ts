/**
 * Prepares for compose.yaml: builds the image `natter:local`, and creates the secrets in `deploy/docker/secrets` once.
 * NATTER_BASE_IMAGE selects the base image. `npm run ts deploy/docker/prepare.ts`
 */
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busUsers } from '@natter/contracts';
import { bundle, dist } from './bundle.ts';
import { credentialsOf } from './credentials.ts';

const secrets = join(import.meta.dirname, 'secrets');
const secretFile = join(secrets, 'secret');
const image = process.env.NATTER_IMAGE ?? 'natter:local';

if (!process.env.NATTER_IMAGE) {
  await bundle();
  const base = process.env.NATTER_BASE_IMAGE ? ['--build-arg', `BASE=${process.env.NATTER_BASE_IMAGE}`] : [];
  const dockerfile = join(import.meta.dirname, 'Dockerfile');
  execFileSync('docker', ['build', '-q', '-t', image, '-f', dockerfile, ...base, dist], { stdio: 'inherit' });
}

mkdirSync(secrets, { recursive: true, mode: 0o700 });
if (!existsSync(secretFile)) writeFileSync(secretFile, randomBytes(32).toString('hex'), { mode: 0o600 });
const secret = readFileSync(secretFile, 'utf8');
const postgresPassword = secret.slice(0, 32);
const grafanaPassword = createHmac('sha256', secret).update('grafana').digest('base64url').slice(0, 24);
const urls = ['--redis', 'redis://redis:6379', '--nats', 'nats://nats:4222'];
// NATS and Redis read these files as users of their own.
write('nats.conf', credentials('--format', 'nats'), 0o644);
write('users.acl', credentials('--format', 'redis'), 0o644);
write(
  'postgres.env',
  `POSTGRES_USER=natter\nPOSTGRES_DB=natter\nPOSTGRES_PASSWORD=${postgresPassword}\nPGDATA=/var/lib/postgresql/data/natter\n`,
);
write('grafana.env', `GF_SECURITY_ADMIN_PASSWORD=${grafanaPassword}\n`);
for (const service of busUsers) write(`${service}.env`, credentials('--format', 'env', '--service', service, ...urls));
console.log(`${image} and ${secrets} are ready`);

function credentials(...args: string[]): string {
  const NATTER_POSTGRES_ADMIN_URL = `postgres://natter:${postgresPassword}@postgres:5432/natter`;
  return credentialsOf(image, { NATTER_SECRET: secret, NATTER_POSTGRES_ADMIN_URL }, args);
}

function write(name: string, text: string, mode = 0o600): void {
  writeFileSync(join(secrets, name), text, { mode });
}
