import type { System } from '@natter/local/system';
import { type Answer, request } from './api.ts';

/** One kind of request, sent by many clients at once. `client` is the client's number. */
export interface Kind {
  name: string;
  make(client: number): Promise<{ status: number; body: Answer }>;
  /** Reverts what clients have done and not reverted, as far as possible. */
  settle?(): Promise<void>;
}

export interface Outcome {
  kind: string;
  answered: number;
  /** 5xx answers, by message. */
  refused: number;
  /** 4xx answers: the request had become impossible. */
  objected: number;
  texts: Map<string, number>;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  longest: number;
}

export interface Place {
  system: System;
  /** One user, group and message per client. */
  people: number[];
  groupIds: number[];
  messageIds: number[];
  /** Shared by all clients. */
  messageId: number;
  sharedId: number;
  nestedId: number;
  channelId: number;
  channel: string;
}

const ok = async (answer: Promise<{ status: number; body: Answer }>): Promise<Answer> => {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};

/** Users, a channel, messages and groups for conflicting requests of this many clients. */
export async function preparePlace(system: System, clients: number): Promise<Place> {
  const { owner, administrator, moderator, member, member2 } = system.people;
  const tag = Math.random().toString(36).slice(2, 8);
  const asOwner = (method: string, path: string, form: Record<string, unknown>) =>
    ok(request(system.url, owner, `${method} ${path}`, form));
  const each = async (make: (index: number) => Promise<number>): Promise<number[]> => {
    const ids: number[] = [];
    for (let index = 0; index < clients; index++) ids.push(await make(index));
    return ids;
  };
  const person = async (index: number): Promise<number> => {
    const account = {
      email: `busy${tag}${index}@example.com`,
      full_name: `Busy ${tag} ${index}`,
      password: 'correct horse battery',
    };
    return (await asOwner('POST', '/users', account)).user_id;
  };
  const group = async (name: string): Promise<number> =>
    (
      await asOwner('POST', '/user_groups/create', {
        name: `busy ${tag} ${name}`,
        description: '',
        members: [owner.user_id],
      })
    ).group_id;
  const channel = `busy-${tag}`;
  await asOwner('POST', '/users/me/subscriptions', {
    subscriptions: [{ name: channel }],
    principals: [owner, administrator, moderator, member, member2].map(({ user_id }) => user_id),
  });
  const { stream_id: channelId } = await asOwner('GET', '/get_stream_id', { stream: channel });
  const message = async (content: string): Promise<number> =>
    (await asOwner('POST', '/messages', { type: 'channel', to: channel, topic: 'busy', content })).id;
  return {
    system,
    people: await each(person),
    groupIds: await each((index) => group(String(index))),
    messageIds: await each((index) => message(`message ${index}`)),
    messageId: await message('shared'),
    sharedId: await group('shared'),
    nestedId: await group('nested'),
    channelId,
    channel,
  };
}

type Made = Omit<Kind, 'name'>;

/** Alternates between an action and its reversal; each client uses its own object. */
function inTurns(make: (client: number, isUndo: boolean) => ReturnType<Kind['make']>): Made {
  const done = new Set<number>();
  return {
    make: async (client) => {
      const isUndo = done.has(client);
      const answer = await make(client, isUndo);
      if (answer.status !== 200) return answer;
      if (isUndo) done.delete(client);
      else done.add(client);
      return answer;
    },
    settle: async () => {
      for (const client of done) if ((await make(client, true)).status === 200) done.delete(client);
    },
  };
}

const always = (make: Kind['make']): Made => ({ make });

/** The kinds of requests by name. An administrator sends those without a particular sender. */
export function kindsAt(place: Place): Kind[] {
  const { system, people, channel, channelId, messageId, groupIds, nestedId } = place;
  const { owner, administrator, moderator, member, member2 } = system.people;
  const senders = [administrator, moderator, member, member2];
  const tag = Math.random().toString(36).slice(2, 8);
  let made = 0;
  const fresh = (): string => `${tag} ${++made}`;
  const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
  const asOwner = (method: string, path: string, form: Record<string, unknown> = {}) =>
    request(system.url, owner, `${method} ${path}`, form);
  const group = (client: number): string => `/user_groups/${at(groupIds, client)}`;
  const person = (client: number): number => at(people, client);
  const kinds: Record<string, Made> = {
    'create groups': always(() =>
      asOwner('POST', '/user_groups/create', { name: `new ${fresh()}`, description: '', members: [owner.user_id] }),
    ),
    'edit one message': always(() => asOwner('PATCH', `/messages/${messageId}`, { content: `edited ${fresh()}` })),
    'change roles': inTurns((client, isUndo) =>
      asOwner('PATCH', `/users/${person(client)}`, { role: isUndo ? 400 : 300 }),
    ),
    'group members': inTurns((client, isUndo) =>
      asOwner('POST', `${group(client)}/members`, { [isUndo ? 'delete' : 'add']: [person(client)] }),
    ),
    'members of one group': inTurns((client, isUndo) =>
      asOwner('POST', `/user_groups/${place.sharedId}/members`, { [isUndo ? 'delete' : 'add']: [person(client)] }),
    ),
    subgroups: inTurns((client, isUndo) =>
      asOwner('POST', `${group(client)}/subgroups`, { [isUndo ? 'delete' : 'add']: [nestedId] }),
    ),
    'update group': always((client) => asOwner('PATCH', group(client), { description: `described ${fresh()}` })),
    'close groups': inTurns((client, isUndo) =>
      isUndo ? asOwner('PATCH', group(client), { deactivated: false }) : asOwner('POST', `${group(client)}/deactivate`),
    ),
    'update realm': always(() => asOwner('PATCH', '/realm', { description: `realm ${fresh()}` })),
    'realm policy': always(() => asOwner('PATCH', '/realm', { message_content_edit_limit_seconds: 10_000 + ++made })),
    'deactivate users': inTurns((client, isUndo) =>
      asOwner(isUndo ? 'POST' : 'DELETE', `/users/${person(client)}${isUndo ? '/reactivate' : ''}`),
    ),
    'create channels': always(() =>
      asOwner('POST', '/users/me/subscriptions', { subscriptions: [{ name: `new ${fresh()}` }] }),
    ),
    'update channel': always(() => asOwner('PATCH', `/streams/${channelId}`, { description: `described ${fresh()}` })),
    subscribe: inTurns((client, isUndo) =>
      asOwner(isUndo ? 'DELETE' : 'POST', '/users/me/subscriptions', {
        subscriptions: isUndo ? [channel] : [{ name: channel }],
        principals: [person(client)],
      }),
    ),
    'alert words': inTurns((client, isUndo) =>
      request(system.url, member2, `${isUndo ? 'DELETE' : 'POST'} /users/me/alert_words`, {
        alert_words: [`word ${client}`],
      }),
    ),
    settings: inTurns((client, isUndo) =>
      request(system.url, at(senders, client), 'PATCH /settings', { translate_emoticons: !isUndo }),
    ),
    'move messages': always((client) =>
      asOwner('PATCH', `/messages/${at(place.messageIds, client)}`, {
        topic: `topic ${fresh()}`,
        propagate_mode: 'change_one',
      }),
    ),
    reactions: inTurns((client, isUndo) =>
      request(
        system.url,
        at(senders, client),
        `${isUndo ? 'DELETE' : 'POST'} /messages/${at(place.messageIds, client >> 2)}/reactions`,
        {
          emoji_name: 'tada',
        },
      ),
    ),
    send: always((client) =>
      request(system.url, at(senders, client), 'POST /messages', {
        type: 'channel',
        to: channel,
        topic: 'sends',
        content: fresh(),
      }),
    ),
    'send direct': always((client) =>
      request(system.url, at(senders, client), 'POST /messages', {
        type: 'direct',
        to: [owner.user_id],
        content: fresh(),
      }),
    ),
  };
  return Object.entries(kinds).map(([name, made]) => ({ name, ...made }));
}

export interface Load {
  kind: Kind;
  clients: number;
  /** Maximum rate of all clients together; by default they send as many requests as possible. */
  perSecond?: number;
}

/** Runs kinds of requests concurrently, each by several clients that send one request after another. */
export async function runTogether(loads: readonly Load[], ms: number): Promise<Outcome[]> {
  const outcomes = await Promise.all(loads.map((load) => runOne(load, ms)));
  // Twice, because one kind may prevent another from being reverted.
  for (const { kind } of [...loads, ...loads]) await kind.settle?.();
  return outcomes;
}

async function runOne({ kind, clients, perSecond }: Load, ms: number): Promise<Outcome> {
  const samples: number[] = [];
  const texts = new Map<string, number>();
  let [refused, objected] = [0, 0];
  const startedAt = performance.now();
  const one = async (client: number): Promise<void> => {
    const from = performance.now();
    const { status, body } = await kind
      .make(client)
      .catch((error): { status: number; body: Answer } => ({ status: 599, body: { msg: String(error) } }));
    samples.push(performance.now() - from);
    if (status === 200) return;
    if (status >= 500 || status === 429) refused++;
    else objected++;
    const text = `${status} ${String(body.msg).replace(/\d{2,}/g, 'N')}`;
    texts.set(text, (texts.get(text) ?? 0) + 1);
  };
  const follow = async (client: number): Promise<void> => {
    for (let round = 0; performance.now() < startedAt + ms; round++) {
      const due = perSecond === undefined ? 0 : startedAt + ((round * clients + client) * 1_000) / perSecond;
      const early = due - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      await one(client);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => follow(client)));
  samples.sort((a, b) => a - b);
  const quantile = (share: number): number =>
    samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? 0;
  return {
    kind: kind.name,
    answered: samples.length,
    refused,
    objected,
    texts,
    perSecond: (samples.length - refused - objected) / ((performance.now() - startedAt) / 1_000),
    p50: quantile(0.5),
    p99: quantile(0.99),
    longest: quantile(1),
  };
}
