/** NATS, with the users and permissions given by the caller. */
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findNats, missing } from './binaries.ts';
import { startDocker } from './docker.ts';
import { answersWith, keptPort } from './port.ts';
import type { ServerContext } from './server-context.ts';
import { externalServer, type ServerProcess, startOnPort, sweepLeftover } from './server-process.ts';

export async function bringNats(
  context: ServerContext,
  { extraConfig }: { extraConfig: string },
): Promise<ServerProcess> {
  const given = context.env.NATTER_NATS_URL;
  if (given) return externalServer(given, 'NATTER_NATS_URL');

  const home = join(context.dataDir, 'nats');
  await sweepLeftover(home, 'SIGTERM');
  if (context.fresh) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });

  const binary = await findNats(context);
  const config = join(home, 'nats.conf');
  // Every NATS server sends INFO; this name distinguishes ours from one that took the port first.
  const serverName = `natter-${randomBytes(6).toString('hex')}`;
  const configure = (listen: string): Promise<void> =>
    writeFile(config, `listen: "${listen}"\n${extraConfig}\nserver_name: "${serverName}"\n`, { mode: 0o600 });
  const answersAt = (port: number): Promise<boolean> => answersWith(port, '', `"server_name":"${serverName}"`);

  if (binary === undefined) {
    const port = await keptPort(home);
    await configure('0.0.0.0:4222');
    const container = await startDocker(context, {
      name: 'nats',
      image: context.env.NATTER_NATS_IMAGE ?? 'nats:2',
      url: `nats://127.0.0.1:${port}`,
      home,
      port,
      innerPort: 4222,
      flags: ['--user', '0', '-v', `${config}:/natter.conf:ro`],
      command: ['-c', '/natter.conf'],
      answers: () => answersAt(port),
    });
    if (container) return container;
    throw missing('NATS', 'NATTER_NATS_URL', 'nats-server');
  }
  return startOnPort(home, async (port) => {
    context.log(`nats: ${binary.command} on 127.0.0.1:${port}`);
    await configure(`127.0.0.1:${port}`);
    return {
      name: 'nats',
      url: `nats://127.0.0.1:${port}`,
      home,
      command: binary.command,
      args: ['-c', config],
      env: { ...context.env, ...binary.env },
      runAs: {},
      stopSignal: 'SIGTERM',
      answers: () => answersAt(port),
      log: context.log,
    };
  });
}
