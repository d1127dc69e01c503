/**
 * Two users who may change an object do so simultaneously: one of the values wins, and no request is refused without a
 * reason.
 */
import type { Json } from '../target/world.ts';
import { type Caller, expect, type Stage } from './stage.ts';

interface Contested {
  /** Creates the object; returns the parameters that identify it. */
  make(stage: Stage, owner: Caller): Promise<Record<string, unknown>>;
  operation: string;
  /** The change of one of the two. */
  change(text: string): Record<string, unknown>;
  /** The final value. */
  read(stage: Stage, owner: Caller, named: Record<string, unknown>): Promise<unknown>;
}

const some = (stage: Stage, what: string): string => `${what} ${stage.random.below(1e9)}`;
const only = (list: Json[], id: unknown): Json => list.find((one) => one.id === id);

const contested: readonly Contested[] = [
  {
    make: async (stage, owner) => {
      const values = { name: some(stage, 'channel'), subscribers: [owner.user_id] };
      return { stream_id: (await stage.must(owner, 'create-channel', values)).id };
    },
    operation: 'update-channel',
    change: (new_name) => ({ new_name }),
    read: async (stage, owner, named) => (await stage.must(owner, 'get-channel', named)).stream.name,
  },
  {
    make: async (stage, owner) => {
      const values = { name: some(stage, 'group'), description: '', members: [owner.user_id] };
      return { user_group_id: (await stage.must(owner, 'create-user-group', values)).group_id };
    },
    operation: 'update-user-group',
    change: (name) => ({ name }),
    read: async (stage, owner, { user_group_id }) =>
      only((await stage.must(owner, 'get-user-groups')).user_groups, user_group_id).name,
  },
  {
    make: async (stage) => ({ user_id_or_email: String((await stage.person('member')).user_id) }),
    operation: 'update-user',
    change: (full_name) => ({ full_name }),
    read: async (stage, owner, named) => (await stage.must(owner, 'get-user', named)).user.full_name,
  },
  {
    make: async () => ({}),
    operation: 'update-realm',
    change: (description) => ({ description }),
    read: async (stage, owner) => {
      const asked = { event_types: ['message'], fetch_event_types: ['realm'] };
      return (await stage.must(owner, 'register', asked)).realm_description;
    },
  },
];

export async function atOnce(stage: Stage): Promise<void> {
  const [one, two] = [stage.owner, await stage.person('owner')];
  const { make, operation, change, read } = stage.random.pick(contested);
  const named = await make(stage, one);
  const values = [some(stage, 'first'), some(stage, 'second'), some(stage, 'third'), some(stage, 'fourth')];
  await Promise.all(
    values.map((text, index) => stage.must(index % 2 === 0 ? one : two, operation, { ...named, ...change(text) })),
  );
  const stands = await read(stage, two, named);
  expect(values.includes(String(stands)), `${operation} by two at once left ${String(stands)}`);
}

/** Two users demote each other: one of the requests is refused, so that one user remains. */
export async function againstEachOther(stage: Stage): Promise<void> {
  const [one, two] = [await stage.person('administrator'), await stage.person('administrator')];
  const against = (actor: Caller, target: Caller): Promise<{ code: string }> =>
    stage.ask(actor, 'deactivate-user', { user_id: target.user_id });
  const answers = await Promise.all([against(one, two), against(two, one)]);
  expect(
    answers.filter(({ code }) => code === '200').length === 1,
    `two administrators who deactivate each other: ${answers.map(({ code }) => code).join(', ')}`,
  );
}

/** Removed by one while the other changes it: afterwards it does not exist. */
export async function removedMeanwhile(stage: Stage): Promise<void> {
  const [one, two] = [stage.owner, await stage.person('administrator')];
  const { id: field_id } = await stage.must(one, 'create-profile-field', { name: some(stage, 'f'), field_type: 1 });
  const change = { field_id, name: some(stage, 'g') };
  const [changed] = await Promise.all([
    stage.ask(two, 'update-profile-field', change),
    stage.must(one, 'remove-profile-field', { field_id }),
  ]);
  expect(['200', 'BAD_REQUEST'].includes(changed.code), `a field removed meanwhile: ${changed.code}`);
  await stage.refused(two, 'update-profile-field', change, ['BAD_REQUEST']);
}
