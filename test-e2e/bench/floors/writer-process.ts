/**
 * The minimum work of an owner of messages: takes sends from NATS, writes the row of the message, the row of the event
 * and the clock of the realm in grouped transactions, and answers. With `delivers` it then appends to Redis and
 * notifies a subscriber, like the path to a held poll.
 */
import { connect, type Msg } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import pg from 'pg';

export interface WriterFloor {
  natsUrl: string;
  postgresUrl: string;
  redisUrl: string;
  /** An event as stored by the system, so that the rows have the same length. */
  event: string;
  delivers: boolean;
}

const { natsUrl, postgresUrl, redisUrl, event, delivers } = JSON.parse(process.argv[2] ?? '{}') as WriterFloor;
process.on('disconnect', () => process.exit());
const nats = await connect({ servers: new URL(natsUrl).host, noAsyncTraces: true });
const redis = new Redis(redisUrl);
const client = new pg.Client({ connectionString: postgresUrl });
await client.connect();
await client.query(`
  CREATE SCHEMA IF NOT EXISTS floor;
  CREATE TABLE IF NOT EXISTS floor.clock (realm_id int PRIMARY KEY, number bigint NOT NULL) WITH (fillfactor = 50);
  CREATE TABLE IF NOT EXISTS floor.event (realm_id int, number bigint, mark int, event json, created_at timestamptz, PRIMARY KEY (realm_id, number));
  CREATE TABLE IF NOT EXISTS floor.message (realm_id int, id bigint, sender_id int, channel_id int, topic text, content text,
    rendered_content text, client text, sent_at timestamptz DEFAULT clock_timestamp(), PRIMARY KEY (realm_id, id));
  CREATE INDEX IF NOT EXISTS floor_message_channel ON floor.message (realm_id, channel_id, id);
  TRUNCATE floor.event, floor.message;
  INSERT INTO floor.clock VALUES (1, 0) ON CONFLICT DO NOTHING`);

const write = `
  WITH c AS (UPDATE floor.clock SET number = number + cardinality($1::text[]) WHERE realm_id = 1 RETURNING number - cardinality($1::text[]) AS before),
  given AS (SELECT content, before + n AS id FROM c, unnest($1::text[]) WITH ORDINALITY u(content, n)),
  e AS (INSERT INTO floor.event SELECT 1, id, (random() * 2147483646)::int, $2::json, clock_timestamp() FROM given),
  m AS (INSERT INTO floor.message SELECT 1, id, 1, 1, 'topic', content, '<p>' || content || '</p>', 'bench' FROM given)
  SELECT max(before) AS before FROM given, c`;

const waiting: Msg[] = [];
let isWriting = false;
nats.subscribe('floor.send', {
  callback: (_, message) => {
    waiting.push(message);
    if (!isWriting) void drain();
  },
});

async function drain(): Promise<void> {
  isWriting = true;
  await new Promise(setImmediate);
  while (waiting.length > 0) {
    const batch = waiting.splice(0, 100);
    const contents = batch.map((message) => String((message.json() as { content: string }).content));
    const { rows } = await client.query({ name: 'write', text: write, values: [contents, event] });
    const before = Number(rows[0]?.before);
    for (const [index, message] of batch.entries()) message.respond(JSON.stringify({ id: before + index + 1 }));
    if (delivers) await deliver(contents, before);
  }
  isWriting = false;
}

async function deliver(contents: string[], before: number): Promise<void> {
  const pipeline = redis.pipeline();
  for (const [index] of contents.entries())
    pipeline.xadd('floor', 'MAXLEN', '~', 100_000, `${before + index + 1}-0`, 'd', event);
  await pipeline.exec();
  for (const content of contents) nats.publish('floor.delivered', content);
}

await redis.del('floor');
await client.query('UPDATE floor.clock SET number = 0');
await nats.flush();
process.send?.({ ready: true });
