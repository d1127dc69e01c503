import { type Answer, type Credentials, request } from '../api.ts';
import { describe } from '../follower.ts';

export interface Person extends Credentials {
  user_id: number;
}

/** What happened to the requests of a round. */
export interface Figures {
  reads: number;
  writes: number;
  /** Attempts that were not answered with success, by kind and code. All were tried again. */
  failures: Map<string, number>;
  /** From the first attempt to the success, with the client's own retries. */
  longestMs: number;
  longestWhat: string;
  /** Refusals that no fault explains, and requests that never succeeded. */
  problems: string[];
}

/** A message that somebody was told is sent, as it has to be now; undefined content when it was deleted. */
export interface Sent {
  by: number;
  content: string | undefined;
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

interface Mine {
  id: number;
  content: string;
  hasReaction: boolean;
  isStarred: boolean;
  isRead: boolean;
}

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
          const { status, body } = await request(url, who, method, path, form, headers);
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

const emojis = ['smile', 'heart', 'tada', 'rocket'];
type Ask = (who: Person, method: string, path: string, form?: Record<string, unknown>) => Promise<Answer | undefined>;

/** One client; gives what it does next. It changes only what is its own, so that a refusal is a fault. */
function createClient(
  { who, other, name, emoji }: { who: Person; other: Person; name: string; emoji: string },
  ask: Ask,
): (sent: Map<number, Sent>) => Promise<unknown> {
  let mine: Mine[] = [];
  let count = 0;
  let draft: number | undefined;
  let group: number | undefined;
  let isIn = false;
  let isSubscribed = false;
  let isMuted = false;
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

  async function send(sent: Map<number, Sent>): Promise<void> {
    const content = `${name} ${count++} at ${Date.now()}`;
    const to =
      Math.random() < 0.7
        ? { type: 'channel', to: pick(['general', 'sandbox']), topic: pick(['one', 'two', 'three']) }
        : { type: 'direct', to: [other.user_id] };
    const answer = await ask(who, 'POST', '/messages', { ...to, content });
    if (!answer) return;
    sent.set(answer.id, { by: who.user_id, content });
    mine = [...mine.slice(-9), { id: answer.id, content, hasReaction: false, isStarred: false, isRead: true }];
  }

  async function edit(sent: Map<number, Sent>, message: Mine): Promise<void> {
    const content = `${message.content} edited ${count++}`;
    const answer = await ask(who, 'PATCH', `/messages/${message.id}`, { content });
    if (!answer) return;
    message.content = content;
    const known = sent.get(message.id);
    if (known) known.content = content;
  }

  async function react(message: Mine): Promise<void> {
    const method = message.hasReaction ? 'DELETE' : 'POST';
    const answer = await ask(who, method, `/messages/${message.id}/reactions`, { emoji_name: emoji });
    if (answer) message.hasReaction = !message.hasReaction;
  }

  async function flag(message: Mine): Promise<void> {
    const name = Math.random() < 0.5 ? 'isRead' : 'isStarred';
    const op = message[name] ? 'remove' : 'add';
    const form = { messages: [message.id], op, flag: name === 'isRead' ? 'read' : 'starred' };
    if (await ask(who, 'POST', '/messages/flags', form)) message[name] = !message[name];
  }

  async function remove(sent: Map<number, Sent>, message: Mine): Promise<void> {
    mine = mine.filter((one) => one !== message);
    const known = sent.get(message.id);
    if ((await ask(who, 'DELETE', `/messages/${message.id}`)) && known) known.content = undefined;
  }

  async function saveDraft(): Promise<void> {
    if (draft !== undefined) {
      await ask(who, 'DELETE', `/drafts/${draft}`);
      draft = undefined;
      return;
    }
    const form = { drafts: [{ type: 'private', to: [other.user_id], topic: '', content: `draft ${count++}` }] };
    draft = (await ask(who, 'POST', '/drafts', form))?.ids[0];
  }

  async function changeGroup(): Promise<void> {
    if (group === undefined) {
      const form = { name: `group ${name}`, description: '', members: [who.user_id] };
      group = (await ask(who, 'POST', '/user_groups/create', form))?.group_id;
      isIn = false;
      return;
    }
    const form = { [isIn ? 'delete' : 'add']: [other.user_id] };
    // Its own maker stays, so that the other one can always be added again.
    if (await ask(who, 'POST', `/user_groups/${group}/members`, form)) isIn = !isIn;
  }

  async function changeSubscription(): Promise<void> {
    const answer = isSubscribed
      ? await ask(who, 'DELETE', '/users/me/subscriptions', { subscriptions: [`channel ${name}`] })
      : await ask(who, 'POST', '/users/me/subscriptions', { subscriptions: [{ name: `channel ${name}` }] });
    if (answer) isSubscribed = !isSubscribed;
  }

  async function muteTopic(): Promise<void> {
    const general = await ask(who, 'GET', '/get_stream_id', { stream: 'general' });
    const form = { stream_id: general?.stream_id, topic: `of ${name}`, visibility_policy: isMuted ? 0 : 1 };
    if (await ask(who, 'POST', '/user_topics', form)) isMuted = !isMuted;
  }

  async function restart(): Promise<void> {
    const form = { event_types: ['message'], fetch_event_types: ['message', 'realm_user', 'subscription'] };
    const queue = await ask(who, 'POST', '/register', form);
    if (queue) await ask(who, 'DELETE', '/events', { queue_id: queue.queue_id });
  }

  return async (sent) => {
    const message = pick(mine);
    const roll = Math.random();
    if (!message || roll < 0.24) return send(sent);
    if (roll < 0.34) return edit(sent, message);
    if (roll < 0.44) return react(message);
    if (roll < 0.54) return flag(message);
    if (roll < 0.57) return remove(sent, message);
    if (roll < 0.62) return saveDraft();
    if (roll < 0.66) return changeGroup();
    if (roll < 0.7) return changeSubscription();
    if (roll < 0.73) return muteTopic();
    if (roll < 0.76) return ask(who, 'PATCH', '/settings', { twenty_four_hour_time: Math.random() < 0.5 });
    if (roll < 0.78) return ask(who, 'POST', '/users/me/status', { status_text: `status ${count++}` });
    if (roll < 0.81) return ask(who, 'POST', '/typing', { op: 'start', to: [other.user_id] });
    if (roll < 0.84) return ask(who, 'POST', '/users/me/presence', { status: 'active', ping_only: true });
    if (roll < 0.88) return ask(who, 'GET', '/messages', { anchor: 'newest', num_before: 20, num_after: 0 });
    if (roll < 0.91) return ask(who, 'GET', `/messages/${message.id}`);
    if (roll < 0.93) return ask(who, 'GET', '/users');
    if (roll < 0.95) return ask(who, 'GET', '/streams');
    if (roll < 0.97) return ask(who, 'GET', '/realm/presence');
    return restart();
  };
}
