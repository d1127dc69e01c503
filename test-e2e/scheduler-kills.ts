import type { System } from '@natter/local/system';
import { type Credentials, request } from './api.ts';

export interface SchedulerReport {
  scheduled: number;
  arrivals: Map<string, number>;
  /** Messages that were due and not sent at each fault. */
  inFlight: number[];
  killed: number;
  stopped: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const burst = 150;
/** Usually enough time to schedule a burst. On a machine that needs more, the rest of the burst is due later. */
const aheadSeconds = 15;
/** Duration of a stop, longer than the database permits a transaction to be idle. */
const longStopMs = 10_000;

/**
 * Bursts of scheduled messages fall due while schedulers are killed with SIGKILL, or stopped with SIGSTOP, some beyond
 * every time limit, and resumed. New ones are scheduled throughout.
 */
export async function hitSchedulers(system: System, rounds: number, random: () => number): Promise<SchedulerReport> {
  const { member, owner } = system.people;
  let keys = 0;
  /** Like a careful client: a request with an unknown outcome is repeated with the same key. */
  const outcome = async (who: Credentials, method: string, path: string, form: Record<string, unknown> = {}) => {
    const key = `schedulers-${++keys}`;
    for (let attempt = 1; ; attempt++) {
      const answer = await request(
        system.url,
        { ...who, headers: { 'idempotency-key': key } },
        `${method} ${path}`,
        form,
      ).catch(() => undefined);
      if (answer && answer.status < 500) return answer;
      if (attempt > 20) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      await pause(300);
    }
  };
  const ask = async (...sent: Parameters<typeof outcome>) => {
    const { status, body } = await outcome(...sent);
    if (status !== 200) throw new Error(`${sent[1]} ${sent[2]}: ${JSON.stringify(body)}`);
    return body;
  };
  const report: SchedulerReport = { scheduled: 0, arrivals: new Map(), inFlight: [], killed: 0, stopped: 0 };
  const queue = await ask(owner, 'POST', '/register', { event_types: ['message'] });
  let isOver = false;
  const following = follow();
  following.catch(() => undefined);
  const resumed: Promise<void>[] = [];
  for (let round = 0; round < rounds; round++) {
    const due = Math.floor(Date.now() / 1000) + aheadSeconds;
    await Promise.all(Array.from({ length: burst }, (_, index) => schedule(`${round}-${index}`, due)));
    await pause(Math.max(due * 1000 - Date.now(), 0) + random() * 120);
    const victims = system.children.filter(({ program }) => program === 'scheduler');
    const victim = victims[Math.floor(random() * victims.length)];
    if (random() < 0.5) {
      report.killed++;
      victim?.kill('SIGKILL');
    } else {
      report.stopped++;
      victim?.kill('SIGSTOP');
      resumed.push(pause(round % 3 === 0 ? longStopMs : 500 + random() * 3_000).then(() => victim?.kill('SIGCONT')));
    }
    report.inFlight.push(await countDue());
  }
  await Promise.all(resumed);
  for (const end = Date.now() + 120_000; report.arrivals.size < report.scheduled && Date.now() < end; )
    await pause(200);
  // A duplicate would arrive in this time.
  await pause(3_000);
  isOver = true;
  await following;
  return report;

  async function schedule(content: string, due: number): Promise<void> {
    const { status, body } = await outcome(member, 'POST', '/scheduled_messages', {
      type: 'direct',
      to: [owner.user_id],
      content,
      scheduled_delivery_timestamp: due,
    });
    if (status === 400 && due <= Date.now() / 1000)
      return schedule(content, Math.floor(Date.now() / 1000) + aheadSeconds);
    if (status !== 200) throw new Error(`scheduling: ${status} ${JSON.stringify(body)}`);
    report.scheduled++;
  }

  async function countDue(): Promise<number> {
    const { scheduled_messages: waiting } = await ask(member, 'GET', '/scheduled_messages');
    const now = Date.now() / 1000;
    return waiting.filter((item: { scheduled_delivery_timestamp: number }) => item.scheduled_delivery_timestamp <= now)
      .length;
  }

  async function follow(): Promise<void> {
    let last = queue.last_event_id;
    while (!isOver) {
      const { events } = await ask(owner, 'GET', '/events', {
        queue_id: queue.queue_id,
        last_event_id: last,
        dont_block: true,
      });
      for (const event of events) {
        last = Math.max(last, event.id);
        if (event.type !== 'message' || event.message.sender_id !== member.user_id) continue;
        const { content } = event.message;
        report.arrivals.set(content, (report.arrivals.get(content) ?? 0) + 1);
      }
      await pause(100);
    }
  }
}
