import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { ChatError, type ParamsOf, type RequestMeta, roles, userOperations } from '@natter/contracts';
import { type Bus, connectBus, createLogger, createMetrics } from '@natter/service-kit';

interface Person {
  email: string;
  api_key: string;
  user_id: number;
  password: string;
  full_name: string;
}

const personNames = ['owner', 'administrator', 'moderator', 'member', 'member2', 'guest'] as const;
export type People = Record<(typeof personNames)[number], Person>;

const demoPeople: Record<
  keyof People,
  { full_name: string; role: number; can_create_users: boolean; can_change_user_emails: boolean }
> = {
  owner: { full_name: 'Olivia Owner', role: roles.owner, can_create_users: true, can_change_user_emails: true },
  administrator: {
    full_name: 'Adam Administrator',
    role: roles.administrator,
    can_create_users: true,
    can_change_user_emails: false,
  },
  moderator: {
    full_name: 'Mona Moderator',
    role: roles.moderator,
    can_create_users: false,
    can_change_user_emails: false,
  },
  member: { full_name: 'Max Member', role: roles.member, can_create_users: false, can_change_user_emails: false },
  member2: { full_name: 'Mia Member', role: roles.member, can_create_users: false, can_change_user_emails: false },
  guest: { full_name: 'Gus Guest', role: roles.guest, can_create_users: false, can_change_user_emails: false },
};

/** Creates the default realm with demo users and channels once; later starts read them from `file`. */
export async function seed(options: {
  url: string;
  natsUrl: string;
  file: string;
  /** Origin of links to the default realm. */
  realmUrl: string;
  log: (line: string) => void;
}): Promise<People> {
  const bus = await connectBus({
    url: options.natsUrl,
    name: 'operator',
    log: createLogger('setup', 'warn'),
    metrics: createMetrics('setup'),
  });
  try {
    const meta: RequestMeta = { requestId: 'setup', realmId: 0, client: 'setup' };
    const realm = await bus.call(
      userOperations.createRealm,
      { host: 'localhost', realm_name: 'Natter', is_default: true, realm_url: options.realmUrl, owner: undefined },
      { meta },
    );
    const ofRealm = { ...meta, realmId: realm.realm_id };
    // The port may have changed since the last start.
    await bus.call(userOperations.setRealmUrl, { realm_url: options.realmUrl }, { meta: ofRealm });
    const kept = await readFile(options.file, 'utf8').catch(() => undefined);
    if (!realm.is_new && kept) {
      const { users } = JSON.parse(kept) as { users: People };
      await write(options, users);
      return users;
    }
    options.log('creating the default realm');
    const unfinished = `${options.file}.unfinished`;
    const passwords = await keptPasswords(unfinished);
    const send = sendTo(options.url);
    const people: Partial<People> = {};
    for (const name of personNames) {
      const person = { email: `${name}@natter.example`, password: passwords[name] ?? '', ...demoPeople[name] };
      const { email, password, full_name } = person;
      people[name] = { email, password, full_name, ...(await accountOf({ bus, meta: ofRealm, send }, person)) };
    }
    const all = people as People;
    await enliven(send, all);
    await untilGreeted(send, all);
    await write(options, all);
    await rm(unfinished);
    return all;
  } finally {
    await bus.drain();
  }
}

/** Passwords by name. They are stored before the accounts are created, so that a repeated start uses the same. */
async function keptPasswords(file: string): Promise<Record<string, string>> {
  const kept = await readFile(file, 'utf8').catch(() => undefined);
  if (kept) return JSON.parse(kept) as Record<string, string>;
  const passwords = Object.fromEntries(personNames.map((name) => [name, randomBytes(9).toString('base64url')]));
  // The file is written under another name and then renamed, so that it is never incomplete.
  await writeFile(`${file}.new`, JSON.stringify(passwords), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return passwords;
}

/** A new account, or that of an interrupted start, with another key. */
async function accountOf(
  { bus, meta, send }: { bus: Bus; meta: RequestMeta; send: Send },
  person: ParamsOf<typeof userOperations.addPerson>,
): Promise<{ user_id: number; api_key: string }> {
  try {
    return await bus.call(userOperations.addPerson, person, { meta });
  } catch (error) {
    if (!(error instanceof ChatError) || error.code !== 'BAD_REQUEST') throw error;
    const { email } = person;
    const { api_key } = await bus.call(userOperations.issueApiKey, { email }, { meta });
    const { user_id } = (await send('GET /users/me', { email, api_key })) as { user_id: number };
    return { user_id, api_key };
  }
}

const write = ({ file, url }: { file: string; url: string }, users: People): Promise<void> =>
  writeFile(file, `${JSON.stringify({ url, users }, null, 2)}\n`, { mode: 0o600 });

type Key = Pick<Person, 'email' | 'api_key'>;
/** `route`: method and path. `once` names a request that an interrupted start may have sent already. */
type Send = (route: string, key: Key, form?: Record<string, string>, once?: string) => Promise<unknown>;

const sendTo =
  (url: string): Send =>
  async (route, { email, api_key }, form = {}, once = undefined) => {
    const [method = '', path = ''] = route.split(' ');
    const authorization = `Basic ${Buffer.from(`${email}:${api_key}`).toString('base64')}`;
    const query = method === 'GET' ? `?${new URLSearchParams(form)}` : '';
    const headers = { authorization, ...(method === 'GET' ? {} : { 'idempotency-key': once ?? randomUUID() }) };
    const body = method === 'GET' ? {} : { body: new URLSearchParams(form) };
    // Right after the start a busy machine may not answer within the deadline of a request.
    for (const end = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
      const response = await fetch(`${url}/api/v1${path}${query}`, { method, headers, ...body });
      if (response.ok) return response.json();
      const text = await response.text();
      if (response.status !== 503 || Date.now() > end) throw new Error(`${path}: ${text}`);
    }
  };

/**
 * The Welcome Bot greets people some time after they were created. Then nothing happens by itself any more, so tests
 * receive no messages but their own.
 */
async function untilGreeted(send: Send, people: People): Promise<void> {
  const newest = { anchor: 'newest', num_before: '1', num_after: '0', narrow: '[["is","dm"]]' };
  const end = Date.now() + 120_000;
  for (const person of Object.values(people))
    for (let restMs = 100; Date.now() < end; restMs = Math.min(2 * restMs, 2_000)) {
      const { messages } = (await send('GET /messages', person, newest)) as { messages: unknown[] };
      if (messages.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
}

/** Creates demo channels with a first conversation; new channels are announced in one of them. */
async function enliven(send: Send, people: People): Promise<void> {
  const { owner, administrator, moderator, member, member2 } = people;
  const principals = JSON.stringify([owner, administrator, moderator, member, member2].map(({ user_id }) => user_id));
  for (const name of ['announcements', 'general', 'sandbox'])
    await send('POST /users/me/subscriptions', owner, {
      subscriptions: JSON.stringify([{ name }]),
      principals,
      send_new_subscription_messages: 'false',
    });
  const announcements = (await send('GET /get_stream_id', owner, { stream: 'announcements' })) as {
    stream_id: number;
  };
  await send('PATCH /realm', owner, { new_stream_announcements_stream_id: String(announcements.stream_id) });
  const say = (person: Person, topic: string, content: string) =>
    send('POST /messages', person, { type: 'channel', to: 'general', topic, content }, `demo: ${content}`);
  await say(owner, 'welcome', 'Welcome to **Natter**! Say hello here.');
  await say(member, 'welcome', 'Hello everybody :wave:');
}
