import { Agent, request as send } from 'node:http';
import type { System } from '@natter/local/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationOf, type Credentials, request } from '../api.ts';
import { follow } from '../follower.ts';
import { randomOf } from '../kills.ts';
import { openSystem } from '../open-system.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const total = Number(process.env.SENDS ?? 2_000);
const clients = 50;
const queuesPerPerson = 2;

let system: System;
beforeAll(async () => {
  system = await openSystem({ gateways: 2 });
});
afterAll(() => system?.stop());

interface Attempt {
  /** The idempotency key. */
  key: string;
  /** Milliseconds after which the connection is cut; undefined keeps it. */
  afterMs: number | undefined;
}

/** One attempt on the client's own connection: status and body, or undefined if the connection was cut. */
function attempt(
  agent: Agent,
  who: Credentials,
  form: Record<string, string>,
  { key, afterMs }: Attempt,
): Promise<{ status: number; id: number } | undefined> {
  const body = new URLSearchParams(form).toString();
  const headers = {
    authorization: authorizationOf(who),
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': key,
  };
  return new Promise((resolve) => {
    const outgoing = send(`${system.url}/api/v1/messages`, { method: 'POST', agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', () => resolve(undefined));
      answer.on('end', () => {
        try {
          resolve({ status: answer.statusCode ?? 0, id: JSON.parse(Buffer.concat(chunks).toString()).id });
        } catch {
          resolve(undefined);
        }
      });
    });
    outgoing.on('error', () => resolve(undefined));
    outgoing.on('close', () => resolve(undefined));
    if (afterMs !== undefined) setTimeout(() => outgoing.destroy(), afterMs);
    outgoing.end(body);
  });
}

describe(`${total} sends of ${clients} clients through two gateways, connections cut at random (seed ${seed})`, () => {
  test('create exactly as many messages, in the same order in every queue', async () => {
    const random = randomOf(seed);
    const { owner, member } = system.people;
    const name = 'cut connections';
    for (const who of [owner, member]) {
      const joined = await request(system.url, who, 'POST /users/me/subscriptions', { subscriptions: [{ name }] });
      expect(joined.status).toBe(200);
    }
    const followers = await Promise.all(
      [owner, member].flatMap((who) => Array.from({ length: queuesPerPerson }, () => follow(system.url, who))),
    );
    let next = 0;
    let cuts = 0;
    let repeated = 0;
    const ids = new Map<string, number>();
    const work = async (client: number): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const who = client % 2 === 0 ? owner : member;
      for (let index = next++; index < total; index = next++) {
        const content = `cut-${index}`;
        const form = { type: 'channel', to: name, topic: `topic ${index % 7}`, content };
        for (let tries = 1; ; tries++) {
          const answer = await attempt(agent, who, form, {
            key: `key-${index}`,
            afterMs: tries < 6 && random() < 0.25 ? random() * 60 : undefined,
          });
          if (answer?.status === 200) {
            ids.set(content, answer.id);
            break;
          }
          // A 5xx answer may be repeated; any other is a failure.
          if (answer && answer.status < 500) throw new Error(`${content}: ${answer.status}`);
          if (tries > 300) throw new Error(`${content} was never answered`);
          if (!answer) cuts++;
          else await new Promise((resolve) => setTimeout(resolve, 200));
          repeated++;
        }
      }
      agent.destroy();
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
    const expected = new Set(ids.values());
    expect(ids.size).toBe(total);
    expect(expected.size).toBe(total);
    const mine = (follower: (typeof followers)[number]): number[] =>
      follower.messageIds.filter(
        (_, at) => follower.contents[at]?.startsWith('<p>cut-') || follower.contents[at]?.startsWith('cut-'),
      );
    for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 100)))
      if (followers.every((follower) => mine(follower).length >= total)) break;
    // A duplicate would arrive in this time.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const follower of followers) follower.stop();
    const order = [...expected].sort((a, b) => a - b);
    for (const follower of followers) {
      expect(follower.lost).toBeUndefined();
      expect(mine(follower)).toEqual(order);
    }
    const listed = new Set<string>();
    for (let anchor: number | string = 'oldest'; ; ) {
      const { body } = await request(system.url, member, 'GET /messages', {
        anchor,
        num_before: 0,
        num_after: 5_000,
        include_anchor: false,
        apply_markdown: false,
        narrow: [['channel', name]],
      });
      for (const { content, id } of body.messages)
        if (content.startsWith('cut-')) {
          expect(listed.has(content), content).toBe(false);
          listed.add(content);
          expect(ids.get(content)).toBe(id);
        }
      if (body.found_newest) break;
      anchor = body.messages.at(-1).id;
    }
    expect(listed.size).toBe(total);
    console.log(`${total} sends, ${cuts} connections cut with a send in flight, ${repeated} repeated`);
    expect(cuts).toBeGreaterThan(0);
  });
});
