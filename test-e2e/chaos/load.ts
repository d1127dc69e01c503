import { type Answer, request } from '../api.ts';
import { describe } from '../follower.ts';
import { createClient, emojis, type Person, type Sent } from './client.ts';

/** Results of the requests of a round. */
export interface Figures {
  reads: number;
  writes: number;
  /** Attempts that were not answered with success, by kind and code. All were tried again. */
  failures: Map<string, number>;
  /** Time from the first attempt to the success, with the client's own retries. */
  longestMs: number;
  longestWhat: string;
  /** Refusals that no fault explains, and requests that never succeeded. */
  problems: string[];
}

export interface Load {
  figures: Figures;
  /** Acknowledged messages of the round, by id. */
  sent: Map<number, Sent>;
  /** Begins a round with fresh figures. */
  begin(): void;
  /** Resolves when no request is under way. */
  pause(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a request is tried again. */
const patienceMs = 60_000;
const fresh = (): Figures => ({
  reads: 0,
  writes: 0,
  failures: new Map(),
  longestMs: 0,
  longestWhat: '',
  problems: [],
});

/** Clients that do what people do, all at once: each write has a key and is repeated until it is answered. */
export async function startLoad(url: string, people: Person[], perPerson: number): Promise<Load> {
  let isPaused = true;
  let isStopped = false;
  const wake: (() => void)[] = [];
  let underWay = 0;
  let keys = 0;
  const run = Math.random().toString(36).slice(2, 8);
  const load: Load = {
    figures: fresh(),
    sent: new Map(),
    begin() {
      load.figures = fresh();
      load.sent = new Map();
      isPaused = false;
      for (const one of wake.splice(0)) one();
    },
    async pause() {
      isPaused = true;
      while (underWay > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async stop() {
      isStopped = true;
      for (const one of wake.splice(0)) one();
      await Promise.all(clients);
    },
  };

  /** The body of the success; undefined when the request was refused. */
  async function ask(
    who: Person,
    method: string,
    path: string,
    form: Record<string, unknown> = {},
  ): Promise<Answer | undefined> {
    const { figures } = load;
    const kind = method === 'GET' ? 'read' : 'write';
    figures[`${kind}s`]++;
    const headers: Record<string, string> = kind === 'write' ? { 'idempotency-key': `${run} ${keys++}` } : {};
    const what = `${method} ${path.replaceAll(/\d+/g, 'N')}`;
    const failed = (code: string): void => {
      const name = `${kind} ${code}`;
      figures.failures.set(name, (figures.failures.get(name) ?? 0) + 1);
    };
    const began = performance.now();
    try {
      for (;;) {
        try {
          const { status, body } = await request(url, { ...who, headers }, `${method} ${path}`, form);
          if (status === 200) return body;
          if (status < 500 && status !== 429) {
            figures.problems.push(`${what}: ${status} ${body.code} ${body.msg}`);
            return undefined;
          }
          failed(String(status));
          if (status === 500) figures.problems.push(`${what}: 500`);
        } catch (error) {
          failed(/socket|ECONNRESET|closed/i.test(describe(error)) ? 'cut' : describe(error));
        }
        if (performance.now() - began > patienceMs) {
          figures.problems.push(`${what}: no success for ${patienceMs / 1000} s`);
          return undefined;
        }
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
    } finally {
      const took = performance.now() - began;
      if (took > figures.longestMs) [figures.longestMs, figures.longestWhat] = [took, what];
    }
  }

  const clients = people.flatMap((who, at) =>
    Array.from({ length: perPerson }, async (_, index) => {
      const other = people[(at + 1) % people.length] ?? who;
      const client = createClient({ who, other, name: `${run}-${at}-${index}`, emoji: emojis[index] ?? 'tada' }, ask);
      while (!isStopped) {
        if (isPaused) await new Promise<void>((resolve) => wake.push(resolve));
        if (isStopped) return;
        underWay++;
        await client(load.sent).finally(() => underWay--);
        await new Promise((resolve) => setTimeout(resolve, 40 + Math.random() * 80));
      }
    }),
  );
  return load;
}
