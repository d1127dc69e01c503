import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { now } from '../../measure/statistics.ts';
import { metric } from '../../metrics.ts';
import { type LiveQueue, registerQueues } from '../data/queues.ts';
import type { BenchRealm } from '../data/realm.ts';
import { largeOrganisation } from '../data/realms.ts';
import type { Bench } from '../harness/bench.ts';
import type { Address } from '../load/connection.ts';
import type { FollowJob } from '../load/load-process.ts';

export interface Held {
  realm: BenchRealm;
  /** All users with a held poll are subscribed to it. */
  channelId: number;
  queues: LiveQueue[];
}

/** A queue for each of many users, all subscribed to one channel. */
export async function manyQueues(bench: Bench, count: number): Promise<Held> {
  const realm = await largeOrganisation(bench);
  const size = Math.max(...Object.keys(realm.channelOfSize).map(Number));
  const startedAt = now();
  const queues = await registerQueues(bench, realm.host, realm.people.slice(0, count));
  bench.log(`${count} queues registered in ${((now() - startedAt) / 1000).toFixed(1)} s`);
  return { realm, channelId: realm.channelOfSize[size] ?? 0, queues };
}

/** The processes that hold polls: the gateways or the processes of a floor. */
export interface Holder {
  address: Address;
  held(): Promise<number>;
}

export const gateways = (bench: Bench): Holder => ({
  address: bench.target.address,
  held: () => metric(bench.target.system, 'gateway', 'natter_held_polls'),
});

export async function bareHolder(bench: Bench): Promise<Holder> {
  const { address, processes } = await bench.floors.http('held', 2);
  return {
    address,
    held: async () => {
      const counts = await Promise.all(processes.map((one) => one.ask<{ held: number }>({ count: true })));
      return counts.reduce((sum, { held }) => sum + held, 0);
    },
  };
}

/** Holds one poll per queue, in addition to those already held; resolves when all are held. */
export async function hold(bench: Bench, holder: Holder, queues: LiveQueue[], already = 0): Promise<FollowJob> {
  // Polls of an earlier job may not have ended yet.
  await untilHeld(holder, already);
  const job = bench.followers.follow({ address: holder.address, queues });
  await untilHeld(holder, already + queues.length);
  return job;
}

export async function untilHeld(holder: Holder, count: number): Promise<void> {
  for (const end = Date.now() + 240_000; ; await sleep(50)) {
    const held = await holder.held();
    if (held === count) return;
    if (Date.now() > end) throw new Error(`${held} polls are held instead of ${count}`);
  }
}

/** Answers all polls that the bare servers hold, with an event as long as the system's. */
export async function releaser(bench: Bench): Promise<{ release(): Promise<void>; close(): Promise<void> }> {
  const { natsUrl } = await bench.floors.servers();
  const nats = await connect({ servers: new URL(natsUrl).host });
  return {
    release: async () => {
      const message = { ...sampleMessage, content: `<p>at ${now().toFixed(3)}</p>` };
      const event = { type: 'message', id: 32, flags: [], message };
      nats.publish(
        'floor.release',
        JSON.stringify({ result: 'success', msg: '', events: [event], queue_id: '0'.repeat(36) }),
      );
      await nats.flush();
    },
    close: () => nats.close(),
  };
}

/** A message as clients see it. */
const sampleMessage = {
  id: 123456,
  avatar_url: '/avatar/1234?version=1',
  client: 'bench',
  content_type: 'text/html',
  display_recipient: 'subscribers 10000',
  is_me_message: false,
  reactions: [],
  recipient_id: 1234,
  sender_email: 'owner@organisation-10000-12345678.natter.example',
  sender_full_name: 'Olivia Owner',
  sender_id: 1234,
  sender_realm_str: '',
  stream_id: 1234,
  subject: 'topic 0',
  submessages: [],
  timestamp: 1_700_000_000,
  topic_links: [],
  type: 'stream',
};
