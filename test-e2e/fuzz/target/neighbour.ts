/** The realm that is not attacked: its secrets must not appear anywhere, and its users must not see any change. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { type Operator, openRealm, type Person, type RealmAccess } from './world.ts';

/**
 * Ids of this realm begin here, so that they are distinguishable from all others, except from the recipient IDs of
 * direct messages, which are hashes.
 */
const firstId = 2_100_000_000;
const idPattern = /(?<![\d.]|"recipient_id":)2100\d{6}(?!\d)/;

const pollMs = 60_000;

export interface Neighbour {
  host: string;
  /** Values of this realm that requests of the attacked realm may use, by kind. */
  foreign: Record<string, (string | number)[]>;
  /** Data of this realm in an answer to a request; undefined if there is none. */
  leakIn(answer: Buffer, requestText: string): string | undefined;
  /** Changes of this realm during the run. */
  changes(): Promise<string[]>;
}

export async function openNeighbour(operator: Operator, postgresUrl: string): Promise<Neighbour> {
  /** Never sent by the fuzzer. */
  const secret = `scrt${randomBytes(6).toString('hex')}`;
  /** Part of names and addresses that the fuzzer sends. */
  const probe = `prob${randomBytes(6).toString('hex')}`;
  const restore = await moveIds(postgresUrl);
  const realm = await openRealm(operator, `b-${randomBytes(4).toString('hex')}`);
  const owner = await realm.person('owner', `Owner ${secret}`);
  const member = await realm.person('member', `Member ${secret}`);
  const foreign: Neighbour['foreign'] = { user: [owner.user_id, member.user_id], email: [owner.email, member.email] };
  await furnish(realm, { owner, member }, { secret, probe }, foreign);
  await untilAnnounced(realm, owner, foreign['channel-name']?.length ?? 0);
  await restore();
  const before = await realm.call(owner, 'POST', '/register');
  foreign.queue_id = [String(before.queue_id)];
  const seen: { type: string }[] = [];
  let lastEventId: number = before.last_event_id;
  const poll = async (): Promise<void> => {
    const asked = { queue_id: before.queue_id, last_event_id: lastEventId, dont_block: true };
    const { events } = (await realm.call(owner, 'GET', '/events', asked)) as { events: { id: number; type: string }[] };
    lastEventId = events.at(-1)?.id ?? lastEventId;
    seen.push(...events.filter(({ type }) => type !== 'heartbeat'));
  };
  // A queue that is not polled expires.
  const timer = setInterval(() => void poll().catch(() => undefined), pollMs);
  return {
    host: realm.host,
    foreign,
    leakIn(answer, requestText) {
      if (answer.includes(secret)) return `the secret ${secret}`;
      if (!requestText.includes(probe) && answer.includes(probe)) return `the name ${probe}`;
      if (answer.length > 2_000_000 || requestText.includes('2100') || !answer.includes('2100')) return undefined;
      const id = idPattern.exec(answer.toString('latin1'))?.[0];
      return id === undefined ? undefined : `the ID ${id}`;
    },
    async changes() {
      clearInterval(timer);
      await poll();
      const after = await realm.call(owner, 'POST', '/register');
      const changed = Object.keys(before).filter(
        (key) => !isTemporary(key) && !isDeepStrictEqual(before[key], after[key]),
      );
      return [
        ...seen.map((event) => `the neighbour saw ${JSON.stringify(event).slice(0, 500)}`),
        ...changed.map((key) => `${key} of the neighbour changed`),
      ];
    },
  };
}

const isTemporary = (key: string): boolean =>
  ['queue_id', 'last_event_id', 'server_timestamp', 'presences', 'presence_last_update_id'].includes(key);

async function furnish(
  realm: RealmAccess,
  { owner, member }: { owner: Person; member: Person },
  { secret, probe }: { secret: string; probe: string },
  foreign: Neighbour['foreign'],
): Promise<void> {
  const know = (kind: string, value: unknown): void => {
    foreign[kind] = [...(foreign[kind] ?? []), value as string | number];
  };
  for (const invite_only of [false, true]) {
    const name = `${probe}-${invite_only ? 'private' : 'public'}`;
    await realm.call(owner, 'POST', '/users/me/subscriptions', {
      subscriptions: [{ name, description: secret }],
      principals: [owner.user_id, member.user_id],
      invite_only,
    });
    const { stream_id } = await realm.call(owner, 'GET', '/get_stream_id', { stream: name });
    const { id } = await realm.call(owner, 'POST', '/messages', {
      type: 'stream',
      to: stream_id,
      topic: `topic ${secret}`,
      content: `text ${secret}`,
    });
    know('channel', stream_id);
    know('channel-name', name);
    know('message', id);
  }
  const direct = await realm.call(member, 'POST', '/messages', {
    type: 'direct',
    to: [owner.user_id],
    content: secret,
  });
  know('message', direct.id);
  know(
    'saved_snippet_id',
    (await realm.call(owner, 'POST', '/saved_snippets', { title: secret, content: secret })).saved_snippet_id,
  );
  know(
    'group',
    (
      await realm.call(owner, 'POST', '/user_groups/create', {
        name: secret,
        description: secret,
        members: [member.user_id],
      })
    ).group_id,
  );
  know('field_id', (await realm.call(owner, 'POST', '/realm/profile_fields', { name: secret, field_type: 1 })).id);
  const draft = { type: 'stream', to: foreign.channel?.slice(0, 1), topic: secret, content: secret };
  know('draft_id', (await realm.call(owner, 'POST', '/drafts', { drafts: [draft] })).ids[0]);
  const { invite_link } = await realm.call(owner, 'POST', '/invites/multiuse', {});
  const { invites } = await realm.call(owner, 'GET', '/invites');
  know('invite_id', invites[0]?.id);
  know('link', invite_link);
  await realm.call(owner, 'POST', '/users/me/alert_words', { alert_words: [secret] });
  await realm.call(owner, 'POST', '/realm/filters', {
    pattern: `${secret}(?P<id>[0-9]+)`,
    url_template: 'https://x.example/{id}',
  });
}

/** Waits for the notices of created channels: one that comes later would look like a change of this realm. */
async function untilAnnounced(realm: RealmAccess, owner: Person, channels: number): Promise<void> {
  const asked = { anchor: 'newest', num_before: 100, num_after: 0 };
  for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const { messages } = (await realm.call(owner, 'GET', '/messages', asked)) as { messages: { subject: string }[] };
    if (messages.filter(({ subject }) => subject === 'channel events').length >= channels) return;
    if (Date.now() > end) throw new Error('The notices of created channels did not arrive');
  }
}

/** Sets all identity columns to continue from `firstId`; returns a function that resets them. */
async function moveIds(postgresUrl: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS table, quote_ident(column_name) AS column,
       pg_get_serial_sequence(format('%I.%I', table_schema, table_name), column_name) AS sequence
     FROM information_schema.columns WHERE is_identity = 'YES' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const before: { sequence: string; next: string }[] = [];
  for (const { sequence } of rows) {
    const { rows: found } = await client.query<{ next: string }>(`SELECT nextval('${sequence}') AS next`);
    before.push({ sequence, next: found[0]?.next ?? '1' });
    await client.query(`SELECT setval('${sequence}', ${firstId})`);
  }
  return async () => {
    for (const { sequence, next } of before) await client.query(`SELECT setval('${sequence}', ${next})`);
    await client.end();
  };
}
