/**
 * A minimal model of an event queue; imports nothing of the project. One user's queues over one stream of events: a
 * queue delivers the events after its register, in order, from any earlier cursor again, until it is deleted or
 * expires. Kills and wipes change nothing.
 */
export interface ModelQueue {
  name: string;
  start: number;
  isGone: boolean;
  /** By cursor of the client, the number of the queue's events up to it. */
  acknowledged: number;
}

export type Command =
  | { kind: 'register'; queue: string }
  | { kind: 'event'; content: string }
  | { kind: 'poll'; queue: string }
  | { kind: 'stale poll'; queue: string; back: number }
  | { kind: 'acknowledge'; queue: string }
  | { kind: 'delete'; queue: string }
  | { kind: 'expire'; queue: string }
  | { kind: 'kill' }
  | { kind: 'wipe' };

export type Expected = { contents: string[] } | { error: 'BAD_EVENT_QUEUE_ID' } | 'done';

export class QueueModel {
  private readonly events: string[] = [];
  readonly queues = new Map<string, ModelQueue>();

  apply(command: Command): Expected {
    switch (command.kind) {
      case 'register':
        this.queues.set(command.queue, {
          name: command.queue,
          start: this.events.length,
          isGone: false,
          acknowledged: 0,
        });
        return 'done';
      case 'event':
        this.events.push(command.content);
        return 'done';
      case 'kill':
      case 'wipe':
        return 'done';
      case 'poll':
        return this.after(command.queue, this.queue(command.queue).acknowledged);
      case 'stale poll':
        return this.after(command.queue, Math.max(0, this.queue(command.queue).acknowledged - command.back));
      case 'acknowledge': {
        const queue = this.queue(command.queue);
        if (queue.isGone) return { error: 'BAD_EVENT_QUEUE_ID' };
        queue.acknowledged = this.events.length - queue.start;
        return 'done';
      }
      case 'delete': {
        const queue = this.queue(command.queue);
        if (queue.isGone) return { error: 'BAD_EVENT_QUEUE_ID' };
        queue.isGone = true;
        return 'done';
      }
      case 'expire':
        this.queue(command.queue).isGone = true;
        return 'done';
    }
  }

  /** Number of events after a cursor. */
  behind(name: string, acknowledged: number): number {
    return this.events.length - this.queue(name).start - acknowledged;
  }

  private queue(name: string): ModelQueue {
    const queue = this.queues.get(name);
    if (!queue) throw new Error(`no queue ${name}`);
    return queue;
  }

  private after(name: string, acknowledged: number): Expected {
    const queue = this.queue(name);
    if (queue.isGone) return { error: 'BAD_EVENT_QUEUE_ID' };
    return { contents: this.events.slice(queue.start + acknowledged) };
  }
}

/**
 * A random sequence; each command is valid in the state before it. `disturbed` (0 to 1) is the frequency of kills and
 * wipes.
 */
export function randomCommands(random: () => number, length: number, disturbed: number): Command[] {
  const commands: Command[] = [];
  const names: string[] = [];
  const pick = (): string => names[Math.floor(random() * names.length)] ?? 'q0';
  for (let index = 0; index < length; index++) {
    const fate = random();
    const roll = random();
    if (fate < disturbed) commands.push({ kind: 'kill' });
    else if (fate < 2 * disturbed) commands.push({ kind: 'wipe' });
    else if (names.length === 0 || roll < 0.12) {
      const queue = `q${names.length}`;
      names.push(queue);
      commands.push({ kind: 'register', queue });
    } else if (roll < 0.45) commands.push({ kind: 'event', content: `event ${index} ${Math.floor(random() * 1e9)}` });
    else if (roll < 0.62) commands.push({ kind: 'poll', queue: pick() });
    else if (roll < 0.74) commands.push({ kind: 'stale poll', queue: pick(), back: 1 + Math.floor(random() * 4) });
    else if (roll < 0.9) commands.push({ kind: 'acknowledge', queue: pick() });
    else if (roll < 0.95) commands.push({ kind: 'delete', queue: pick() });
    else commands.push({ kind: 'expire', queue: pick() });
  }
  return commands;
}
