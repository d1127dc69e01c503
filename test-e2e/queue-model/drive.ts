import { type Command, type Expected, QueueModel } from './model.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are compared with the model's.
type Body = any;
/** Repeats a request until it is answered; `isRepeated` if an earlier attempt had an unknown outcome. */
export type Ask = (
  method: string,
  path: string,
  form: Record<string, unknown>,
  headers?: Record<string, string>,
) => Promise<{ body: Body; isRepeated?: boolean }>;

export interface Disturbances {
  expire(queueId: string): Promise<void>;
  kill(): Promise<void>;
  wipe(): Promise<void>;
}

export interface Follower {
  ask: Ask;
  userId: number;
}

interface Held {
  id: string;
  /** The cursor after each received event, in order; the first is the register's. */
  cursors: number[];
  acknowledged: number;
}

const gone = 'BAD_EVENT_QUEUE_ID';

/** Sends the model's commands to the system; returns the first difference. `mark` identifies its own events. */
export async function drive(
  { ask, userId }: Follower,
  mark: string,
  commands: readonly Command[],
  disturb: Disturbances,
): Promise<string | undefined> {
  const model = new QueueModel();
  const held = new Map<string, Held>();
  for (const [step, command] of [...commands, ...ends(commands)].entries()) {
    const expected = model.apply(command);
    const got = await perform(command, expected);
    if (JSON.stringify(got) !== JSON.stringify(expected))
      return `step ${step}: ${JSON.stringify(command)}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
  }
  return undefined;

  async function perform(command: Command, expected: Expected): Promise<Expected | string> {
    if (command.kind === 'kill' || command.kind === 'wipe') {
      await disturb[command.kind]();
      return 'done';
    }
    if (command.kind === 'event') {
      const content = `${mark}${command.content}`;
      const message = { type: 'direct', to: JSON.stringify([userId]), content };
      const { body } = await ask('POST', '/messages', message, { 'idempotency-key': content });
      return body.result === 'success' ? 'done' : JSON.stringify(body);
    }
    if (command.kind === 'register') {
      const { body } = await ask('POST', '/register', { event_types: '["message"]', fetch_event_types: '[]' });
      held.set(command.queue, { id: body.queue_id, cursors: [body.last_event_id], acknowledged: 0 });
      return body.result === 'success' ? 'done' : JSON.stringify(body);
    }
    const queue = held.get(command.queue);
    if (!queue) return 'no such queue';
    switch (command.kind) {
      case 'delete': {
        const { body, isRepeated } = await ask('DELETE', '/events', { queue_id: queue.id });
        const isDone = body.result === 'success' || (isRepeated && expected === 'done' && body.code === gone);
        return isDone ? 'done' : { error: body.code };
      }
      case 'expire':
        await disturb.expire(queue.id);
        return 'done';
      case 'poll':
        return read(command.queue, queue, queue.acknowledged);
      case 'stale poll':
        return read(command.queue, queue, Math.max(0, queue.acknowledged - command.back));
      case 'acknowledge': {
        const seen = await read(command.queue, queue, queue.acknowledged);
        if (typeof seen === 'string' || !('contents' in seen)) return seen;
        queue.acknowledged += seen.contents.length;
        return 'done';
      }
    }
  }

  /** Polls, and waits as long as the model expects more events. */
  async function read(
    name: string,
    queue: Held,
    from: number,
  ): Promise<{ contents: string[] } | { error: typeof gone } | string> {
    const contents: string[] = [];
    const due = model.behind(name, from);
    let cursor = queue.cursors[from] ?? -1;
    for (let isFirst = true; isFirst || contents.length < due; isFirst = false) {
      const form = { queue_id: queue.id, last_event_id: cursor, dont_block: String(contents.length >= due) };
      const { body } = await ask('GET', '/events', form);
      if (body.result !== 'success') return { error: body.code };
      for (const event of body.events) {
        if (event.id <= cursor) return `id ${event.id} after cursor ${cursor}`;
        cursor = event.id;
        if (event.type === 'heartbeat') return `nothing came, ${contents.length} of ${due} after ${contents.at(-1)}`;
        if (!event.message.content.startsWith(mark)) continue;
        contents.push(event.message.content.slice(mark.length));
        const place = from + contents.length;
        const known = queue.cursors[place];
        if (known !== undefined && known !== event.id) return `id ${event.id} for what had ${known}`;
        queue.cursors[place] = event.id;
      }
    }
    return { contents };
  }
}

/** The final reads of every queue, so that no event is left. */
function ends(commands: readonly Command[]): Command[] {
  return commands.flatMap((command): Command[] =>
    command.kind === 'register'
      ? [
          { kind: 'stale poll', queue: command.queue, back: 1_000 },
          { kind: 'delete', queue: command.queue },
        ]
      : [],
  );
}
