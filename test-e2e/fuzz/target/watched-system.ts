/** The system under attack, and the problems that its processes report. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type System, startSystem } from '@natter/local/system';
import pg from 'pg';
import { type MailServer, startMailServer } from '../../mail-server.ts';
import { memoryOf, type ProcessGroups } from '../../measure/processes.ts';

export interface Memory {
  rssMib: number;
  /** Heap and buffers, after garbage collection. */
  usedMib: number;
}

export interface WatchedSystem {
  system: System;
  port: number;
  directory: string;
  /** The processes of the services by name. */
  services: ProcessGroups;
  /** Services and servers. */
  groups: ProcessGroups;
  /** Problems that processes reported since the last call. */
  problems(): string[];
  /** The memory of each process after garbage collection, by the name of the process. */
  memory(): Promise<Record<string, Memory>>;
  mails: MailServer;
  /** Keys of the links in mails since the last call, by the parameter kind. */
  mailedKeys(): { kind: string; key: string }[];
  /** The role of an account; undefined if there is none. */
  roleOf(userId: number): Promise<number | undefined>;
  stop(): Promise<void>;
}

const raised = {
  NATTER_RATE_LIMIT: '1000000000',
  NATTER_RATE_LIMIT_ANONYMOUS: '1000000000',
  NATTER_RATE_LIMIT_LOGIN: '1000000000',
  // One realm is attacked with the full capacity of the machine.
  NATTER_QUIET_LAG_MS: '1000000',
  NATTER_LOG_MEMORY_MIB: '16',
};

/** If a folder is given, each service writes a CPU profile there when it stops. */
export async function startWatched(log: (line: string) => void, profileTo?: string): Promise<WatchedSystem> {
  const directory = await mkdtemp(join(tmpdir(), 'natter-fuzz-'));
  const mails = await startMailServer();
  const lines = createWriteStream(join(directory, 'system.log'));
  let found: string[] = [];
  let isStopping = false;
  const system = await startSystem({
    dataDir: directory,
    env: {
      ...process.env,
      ...raised,
      NATTER_SMTP_URL: mails.url,
      // The search needs no durability.
      PGOPTIONS: '-c synchronous_commit=off',
      NODE_OPTIONS: [
        `--import=${new URL('../collect-on-signal.mjs', import.meta.url).href}`,
        ...(profileTo === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileTo}`]),
      ].join(' '),
    },
    log,
    onLine: (line) => {
      lines.write(`${line}\n`);
      const problem = isStopping ? undefined : problemOfLine(line);
      if (problem) found.push(problem);
    },
  });
  const nameOf = (child: System['children'][number]): string => `${child.program} ${child.index}`;
  const pids = new Map(system.children.map((child) => [nameOf(child), child.pid()]));
  const client = new pg.Client({ connectionString: system.servers.postgresUrl });
  await client.connect();
  let readMails = 0;
  const services = Object.fromEntries(system.children.map((child) => [nameOf(child), () => [child.pid() ?? 0]]));
  const servers = Object.fromEntries(
    (['postgres', 'redis', 'nats'] as const).map((name) => [name, () => [system.servers[name].pid ?? 0]]),
  );
  return {
    system,
    port: Number(new URL(system.url).port),
    directory,
    services,
    groups: { ...services, ...servers },
    mails,
    problems() {
      const said = found;
      found = [];
      for (const child of system.children) {
        if (pids.get(nameOf(child)) === child.pid()) continue;
        pids.set(nameOf(child), child.pid());
        said.push(`${nameOf(child)} was restarted`);
      }
      return said;
    },
    async memory() {
      for (const child of system.children) child.kill('SIGUSR2');
      await sleep(3_000);
      const entries = system.children.map(async (child) => {
        const metrics = await fetch(`http://127.0.0.1:${child.operationsPort()}/metrics`);
        const text = await metrics.text();
        const used = metricOf(text, 'nodejs_heap_size_used_bytes') + metricOf(text, 'nodejs_external_memory_bytes');
        const rss = memoryOf({ it: () => [child.pid() ?? 0] }).it ?? 0;
        return [nameOf(child), { rssMib: Math.round(rss / 2 ** 20), usedMib: Math.round(used / 2 ** 20) }] as const;
      });
      return Object.fromEntries(await Promise.all(entries));
    },
    mailedKeys() {
      const fresh = mails.received.slice(readMails);
      readMails = mails.received.length;
      return fresh.flatMap(({ link }) => {
        const key = link.split(/[/?#]/).filter(Boolean).at(-1);
        return key === undefined ? [] : [{ kind: kindOfLink(link), key }];
      });
    },
    async roleOf(userId) {
      const { rows } = await client.query<{ role: number }>('SELECT role FROM users.account WHERE id = $1', [userId]);
      return rows[0]?.role;
    },
    async stop() {
      isStopping = true;
      await client.end();
      await system.stop();
      await mails.stop();
      lines.end();
      await rm(join(directory, 'servers'), { recursive: true, force: true });
    },
  };
}

const kindOfLink = (link: string): string =>
  link.includes('/password/reset/') ? 'password-key' : link.includes('/confirm_new_email/') ? 'email-key' : 'key';

const metricOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1] ?? 0);

const errorLevel = 50;

/** Errors and stalls; a line that is not JSON was written by Node when it crashed. */
function problemOfLine(line: string): string | undefined {
  if (!line.startsWith('{'))
    return /error|warning|\bat\b.*:\d+:\d+/i.test(line) ? `a process printed: ${line}` : undefined;
  try {
    const { level, service, msg, operation, operations, stallMs, err } = JSON.parse(line);
    if (msg === 'event loop stalled')
      return `${service} stalled for ${stallMs} ms of CPU in ${JSON.stringify(operations)}`;
    if (level < errorLevel) return undefined;
    return `${service} logged an error: ${msg} ${operation ?? ''} ${String(err?.message ?? '').slice(0, 300)} ${String(
      err?.stack ?? '',
    )
      .split('\n')
      .slice(1, 4)
      .join(' ')}`;
  } catch {
    return `a process printed: ${line.slice(0, 300)}`;
  }
}
