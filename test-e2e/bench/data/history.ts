import { logSubject, metaKey, streamKey } from '@natter/event-log';
import { Redis } from 'ioredis';
import { inParallel } from '../harness/api.ts';
import type { Bench } from '../harness/bench.ts';
import { createChannel } from './channels.ts';
import { type BenchRealm, consumed, createRealm, keptRealm } from './realm.ts';

export interface History {
  realm: BenchRealm;
  channels: number[];
  /** Ids of the first and the last message. */
  first: number;
  last: number;
}

const people = 50;
const channels = 10;
const words =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu'.split(
    ' ',
  );

/**
 * Long history. Some messages are sent; their rows are then copied, column by column, to reserved lower numbers, so
 * that the data of the newest messages is as the services wrote it.
 */
export async function history(bench: Bench, name = 'history', textOf = plainText): Promise<History> {
  const total = bench.sizes.messages;
  const realm = await keptRealm(bench, `${name}-${total}`, async () => {
    const made = await createRealm(bench, name, people);
    const ids: number[] = [];
    for (let index = 0; index < channels; index++)
      ids.push(await createChannel(bench, made, `channel ${index}`, made.people));
    await fill(bench, made, ids, { total, textOf });
    return made;
  });
  const [range] = await bench.sql<{ first: string; last: string }>(
    'SELECT min(id) AS first, max(id) AS last FROM messaging.message WHERE realm_id = $1',
    [realm.id],
  );
  const rows = await bench.sql<{ channel_id: number }>(
    `SELECT id AS channel_id FROM channels.channel WHERE realm_id = $1 AND name LIKE 'channel %' ORDER BY id`,
    [realm.id],
  );
  return {
    realm,
    channels: rows.map((row) => row.channel_id),
    first: Number(range?.first),
    last: Number(range?.last),
  };
}

/** Gives the channels of a new realm `total` messages from its first users. */
export async function fill(
  bench: Bench,
  realm: BenchRealm,
  ids: readonly number[],
  { total, textOf = plainText }: { total: number; textOf?: (index: number) => string },
): Promise<void> {
  const sent = Math.min(2_000, Math.round(total / 5));
  await setAside(bench, realm, total - sent);
  await inParallel(
    Array.from({ length: sent }, (_, index) => index),
    32,
    (index) => say(bench, realm, ids, { index, content: textOf(index) }),
  );
  await consumed(bench, realm);
  await copyDown(bench, realm, sent, total - sent);
}

function plainText(index: number): string {
  const pick = (offset: number): string => words[(index * 7 + offset * 11) % words.length] ?? '';
  return `Message ${index}: ${Array.from({ length: 12 }, (_, offset) => pick(offset)).join(' ')}${index % 500 === 0 ? ' needle' : ''}`;
}

function say(
  bench: Bench,
  realm: BenchRealm,
  ids: readonly number[],
  { index, content }: { index: number; content: string },
): Promise<unknown> {
  const sender = realm.people[index % people];
  return bench.api.call(realm.host, sender, 'POST /messages', {
    type: 'channel',
    to: ids[index % ids.length],
    topic: `topic ${index % 40}`,
    content,
  });
}

/** Reserves numbers that no event will have. Also deletes the realm's log in Redis. */
async function setAside(bench: Bench, realm: BenchRealm, count: number): Promise<void> {
  await bench.sql('UPDATE log.clock SET number = number + $2, floor = number + $2 WHERE realm_id = $1', [
    realm.id,
    count,
  ]);
  const redis = new Redis(bench.target.system.servers.redisUrl);
  await redis.del(streamKey(realm.id), metaKey(realm.id));
  redis.disconnect();
  bench.log(`${count} numbers set aside on ${logSubject(realm.id)}`);
}

async function copyDown(bench: Bench, realm: BenchRealm, sent: number, total: number): Promise<void> {
  const columns = await bench.sql<{ name: string }>(`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = 'messaging.message'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attname NOT IN ('id', 'sent_at')`);
  const names = columns.map(({ name }) => name).join(', ');
  for (let from = 0; from < total; from += 50_000) {
    // Copy k of the n-th message takes the number directly below that of copy k - 1.
    // Triggers would make the words that are searched again.
    await bench.sql(`BEGIN; SET LOCAL session_replication_role = replica;
      WITH newest AS (SELECT * FROM messaging.message WHERE realm_id = ${realm.id} ORDER BY id DESC LIMIT ${sent}),
        original AS (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, min(id) OVER () AS lowest FROM newest),
        wanted AS (SELECT n, n % ${sent} AS place FROM generate_series(${from}::bigint, ${Math.min(from + 50_000, total) - 1}) n)
      INSERT INTO messaging.message (id, sent_at, ${names})
      SELECT o.lowest - 1 - w.n, o.sent_at - make_interval(mins => (w.n / 10)::int), ${names} FROM wanted w JOIN original o USING (place)
      ON CONFLICT DO NOTHING; COMMIT`);
    if (from % 200_000 === 0) bench.log(`${from} of ${total} messages copied`);
  }
}
