/** A changed role applies in every service from the answer that changed it. */
import { roles } from '@natter/contracts';
import { password } from './keys.ts';
import { type Caller, expect, type Stage } from './stage.ts';

const refusal = ['BAD_REQUEST'];

/** Administrative writes, of each service that has some. */
const administration: readonly ((stage: Stage) => [operation: string, values: Record<string, unknown>])[] = [
  (stage) => ['update-realm', { digest_weekday: stage.random.below(7) }],
  (stage) => [
    'create-default-group',
    { group_name: `group ${stage.random.below(1e9)}`, description: 'd', stream_names: [] },
  ],
  () => ['get-export-consents', {}],
  (stage) => ['test-welcome-message', { welcome_message_custom_text: `hello ${stage.random.below(10)}` }],
];

export async function demoted(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('administrator')];
  for (const make of administration.slice(0, 2)) await stage.must(person, ...make(stage));
  await stage.must(owner, 'update-user', {
    user_id_or_email: String(person.user_id),
    role: stage.random.pick([roles.moderator, roles.member, roles.guest]),
  });
  const former = { ...person, role: 'demoted' };
  await Promise.all(administration.map((make) => stage.refused(former, ...make(stage), refusal)));
}

export async function promoted(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('member')];
  await Promise.all(administration.map((make) => stage.refused(person, ...make(stage), refusal)));
  await stage.must(owner, 'update-user', { user_id_or_email: person.email, role: roles.administrator });
  const risen = { ...person, role: 'promoted' };
  await Promise.all(administration.map((make) => stage.must(risen, ...make(stage))));
}

/** A link grants what its creator may grant at the moment of joining. */
export async function invitedByFormerOwner(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('owner')];
  const { invite_link } = await stage.must(person, 'create-invite-link', { invite_as: roles.owner });
  const key = String(invite_link).split('/').filter(Boolean).at(-1);
  await stage.must(owner, 'update-user', { user_id_or_email: String(person.user_id), role: roles.member });
  const email = `joined${stage.random.below(1e9)}@fuzz.example`;
  const { code, json } = await stage.ask(undefined, 'join', { key, email, full_name: 'Joined Joan', password });
  if (code !== '200') return;
  const joined: Caller = { role: 'member', email, api_key: json.api_key, user_id: json.user_id };
  const { role } = await stage.must(joined, 'get-own-user');
  expect(role >= roles.member, `an invitation by a former owner made somebody of role ${role}`);
}

export async function leftPrivateChannel(stage: Stage): Promise<void> {
  const [owner, person] = [await stage.person('administrator'), await stage.person('member')];
  const name = `private ${stage.random.below(1e9)}`;
  const { id: stream_id } = await stage.must(owner, 'create-channel', {
    name,
    subscribers: [owner.user_id, person.user_id],
    invite_only: true,
  });
  const message = { type: 'channel', to: stream_id, topic: 'secret', content: 'secret' };
  const { id: message_id } = await stage.must(person, 'send-message', message);
  await stage.must(owner, 'unsubscribe', { subscriptions: [name], principals: [person.user_id] });
  const narrow = [{ operator: 'channel', operand: stream_id }];
  const { code, json } = await stage.ask(person, 'get-messages', {
    anchor: 'newest',
    num_before: 9,
    num_after: 0,
    narrow,
  });
  expect(code !== '200' || json.messages.length === 0, 'messages of a private channel are shown to who left it');
  await Promise.all([
    stage.refused(person, 'send-message', message, ['BAD_REQUEST', 'STREAM_DOES_NOT_EXIST']),
    stage.refused(person, 'get-channel', { stream_id }, refusal),
    stage.refused(person, 'get-subscribers', { stream_id }, refusal),
    stage.refused(person, 'get-topics', { stream_id }, refusal),
    stage.refused(person, 'update-channel', { stream_id, description: 'x' }, refusal),
    stage.refused(person, 'update-message', { message_id, content: 'changed' }, refusal),
    stage.refused(person, 'add-reaction', { message_id, emoji_name: 'smile' }, refusal),
  ]);
}
