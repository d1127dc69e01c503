import type { System } from '@natter/local/system';
import { type Credentials, request } from './api.ts';
import { requestOnce, untilServed } from './patience.ts';

export interface RaceReport {
  rounds: number;
  /** Racing sends that were accepted before the right was revoked, and refused after. */
  accepted: number;
  refused: number;
  violations: string[];
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Race {
  /** The user whose right is revoked, and the target of the sends. */
  sender: () => Credentials;
  to: string;
  take: () => Promise<void>;
  giveBack: () => Promise<void>;
}

/**
 * Sends race the revocation of the right to send, while the deciding process is stopped between its decision and its
 * commit. A marker sent after the answer to the revocation has a number; no accepted send may have a higher one.
 */
async function race(
  system: System,
  rounds: number,
  random: () => number,
  { sender, to, take, giveBack }: Race,
): Promise<RaceReport> {
  const report: RaceReport = { rounds, accepted: 0, refused: 0, violations: [] };
  const deciders = system.children.filter((child) => child.program === 'messaging');
  const post = (who: Credentials, channel: string) =>
    request(system.url, { ...who, headers: { connection: 'close' } }, 'POST /messages', {
      type: 'channel',
      to: channel,
      topic: 'race',
      content: 'x',
    });
  // The head start of the sends before the deciders are stopped is adapted to the last results, so that about half
  // succeed.
  let head = 60;
  for (let round = 0; round < rounds; round++) {
    const who = sender();
    const sends = Array.from({ length: 3 }, async () => {
      await pause(random() * 8);
      return post(who, to);
    });
    await pause(random() * head);
    for (const child of deciders) child.kill('SIGSTOP');
    await take();
    for (const child of deciders) child.kill('SIGCONT');
    const [marker, late, ...answers] = await Promise.all([
      untilServed(() => post(system.people.owner, 'general')),
      post(who, to),
      ...sends,
    ]);
    if (late.status === 200)
      report.violations.push(
        `round ${round}: a send that began after the loss was answered is message ${late.body.id}`,
      );
    for (const { status, body } of answers) {
      if (status !== 200) report.refused++;
      else if (body.id < marker.body.id) report.accepted++;
      else report.violations.push(`round ${round}: message ${body.id} was accepted after marker ${marker.body.id}`);
    }
    const accepted = answers.filter(({ status }) => status === 200).length;
    head = Math.min(2_000, Math.max(10, head * (accepted * 2 < answers.length ? 1.3 : 0.8)));
    await giveBack();
  }
  return report;
}

const ensure = async (answer: Promise<{ status: number; body: unknown }>): Promise<void> => {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
};

/** An unsubscribe from a private channel. */
export async function raceUnsubscribe(system: System, rounds: number, random: () => number): Promise<RaceReport> {
  const { member, administrator } = system.people;
  const name = 'race-private';
  const principals = [member.user_id];
  await ensure(
    requestOnce(system.url, administrator, 'POST /users/me/subscriptions', {
      subscriptions: [{ name }],
      invite_only: true,
      principals: [member.user_id, administrator.user_id],
    }),
  );
  return race(system, rounds, random, {
    sender: () => member,
    to: name,
    take: () =>
      ensure(
        requestOnce(system.url, administrator, 'DELETE /users/me/subscriptions', { subscriptions: [name], principals }),
      ),
    giveBack: () =>
      ensure(
        requestOnce(system.url, administrator, 'POST /users/me/subscriptions', {
          subscriptions: [{ name }],
          principals,
        }),
      ),
  });
}

/** A member becomes a guest, who may not post to a public channel without a subscription. */
export async function raceRole(system: System, rounds: number, random: () => number): Promise<RaceReport> {
  const { member2, owner } = system.people;
  const name = 'race-public';
  await ensure(requestOnce(system.url, owner, 'POST /users/me/subscriptions', { subscriptions: [{ name }] }));
  const become = (role: number): Promise<void> =>
    ensure(requestOnce(system.url, owner, `PATCH /users/${member2.user_id}`, { role }));
  return race(system, rounds, random, {
    sender: () => member2,
    to: name,
    take: () => become(600),
    giveBack: () => become(400),
  });
}

/** The sender's group is removed from the group that may post: neither the sender nor the channel changes. */
export async function raceNestedGroup(system: System, rounds: number, random: () => number): Promise<RaceReport> {
  const { member, owner } = system.people;
  const asOwner = async (method: string, path: string, form: Record<string, unknown>) => {
    const { status, body } = await requestOnce(system.url, owner, `${method} ${path}`, form);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  };
  const group = async (name: string, members: number[], subgroups: number[]): Promise<number> =>
    (await asOwner('POST', '/user_groups/create', { name, description: '', members, subgroups })).group_id;
  const inner = await group('race-inner', [member.user_id], []);
  const outer = await group('race-outer', [owner.user_id], [inner]);
  const name = 'race-posters';
  await asOwner('POST', '/users/me/subscriptions', {
    subscriptions: [{ name }],
    principals: [owner.user_id, member.user_id],
    can_send_message_group: outer,
  });
  const nest = async (verb: 'add' | 'delete'): Promise<void> => {
    await asOwner('POST', `/user_groups/${outer}/subgroups`, { [verb]: [inner] });
  };
  return race(system, rounds, random, {
    sender: () => member,
    to: name,
    take: () => nest('delete'),
    giveBack: () => nest('add'),
  });
}

/** The API key in use is revoked. */
export async function raceKey(system: System, rounds: number, random: () => number): Promise<RaceReport> {
  const { moderator } = system.people;
  const renew = async (): Promise<Credentials> => {
    const { body } = await request(system.url, current, 'POST /users/me/api_key/regenerate');
    return { email: moderator.email, api_key: body.api_key };
  };
  let current: Credentials = moderator;
  let next: Credentials = moderator;
  const report = await race(system, rounds, random, {
    sender: () => current,
    to: 'general',
    take: async () => {
      next = await renew();
    },
    giveBack: async () => {
      current = next;
    },
  });
  moderator.api_key = current.api_key;
  return report;
}
