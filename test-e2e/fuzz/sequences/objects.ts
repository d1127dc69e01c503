/** An object is created, read, changed, read again, removed, and then no longer exists. */
import { validFile } from '../requests/hostile-files.ts';
import type { Json } from '../target/world.ts';
import { password } from './keys.ts';
import { type Caller, expect, type Stage } from './stage.ts';

const refusal = ['BAD_REQUEST'];
const named = (stage: Stage, what: string): string => `${what}${stage.random.below(1e9)}`;
const keyOf = (link: unknown): string => String(link).split('/').filter(Boolean).at(-1) ?? '';

export async function channel(stage: Stage): Promise<void> {
  const [owner, reader] = [stage.owner, await stage.person('member')];
  const name = named(stage, 'channel ');
  const { id: stream_id } = await stage.must(owner, 'create-channel', { name, subscribers: [owner.user_id] });
  const new_name = named(stage, 'renamed ');
  await stage.must(owner, 'update-channel', { stream_id, new_name });
  const { stream } = await stage.must(reader, 'get-channel', { stream_id });
  expect(stream.name === new_name, `a channel renamed ${new_name} is ${stream.name}`);
  await stage.refused(reader, 'get-stream-id', { stream: name }, refusal);
  await stage.must(owner, 'add-default-channel', { stream_id });
  await stage.must(owner, 'remove-default-channel', { stream_id });
  await stage.must(owner, 'get-channel-email', { stream_id });
  const { id: message_id } = await stage.must(owner, 'send-message', {
    type: 'channel',
    to: stream_id,
    topic: 'lunch',
    content: 'hello',
  });
  await stage.must(owner, 'mark-topic-as-read', { stream_id, topic_name: 'lunch' });
  await stage.must(owner, 'delete-topic', { stream_id, topic_name: 'lunch' });
  await stage.refused(owner, 'get-message', { message_id }, refusal);
  await stage.must(owner, 'archive-channel', { stream_id });
  await stage.refused(reader, 'send-message', { type: 'channel', to: stream_id, topic: 'x', content: 'x' }, [
    'BAD_REQUEST',
    'STREAM_DOES_NOT_EXIST',
  ]);
}

export async function userGroup(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('member')];
  const { group_id: user_group_id } = await stage.must(owner, 'create-user-group', {
    name: named(stage, 'group '),
    description: 'd',
    members: [owner.user_id],
  });
  await stage.must(owner, 'update-user-group-members', { user_group_id, add: [person.user_id] });
  const asked = { user_group_id, user_id: person.user_id };
  const { is_user_group_member } = await stage.must(person, 'is-user-group-member', asked);
  expect(is_user_group_member === true, 'who was added to a group is not in it');
  await stage.must(owner, 'update-user-group-members', { user_group_id, delete: [person.user_id] });
  const after = await stage.must(person, 'is-user-group-member', asked);
  expect(after.is_user_group_member === false, 'who was taken out of a group is in it');
  await stage.must(owner, 'deactivate-user-group', { user_group_id });
  await stage.must(owner, 'update-user-group-members', { user_group_id, add: [person.user_id] });
  const later = await stage.must(person, 'is-user-group-member', asked);
  expect(later.is_user_group_member === true, 'who was added to a deactivated group is not in it');
  await stage.refused(owner, 'deactivate-user-group', { user_group_id }, refusal);
}

/** Lists that are replaced as a whole; no other sequence of the stage changes them meanwhile. */
export async function orders(stage: Stage): Promise<void> {
  const owner = stage.owner;
  const reversed = async (
    operation: string,
    read: string,
    ids: readonly number[],
    parameter: string,
  ): Promise<void> => {
    const order = [...ids].reverse();
    await stage.must(owner, operation, { [parameter]: order });
    const list: Json[] = Object.values(await stage.must(owner, read)).find(Array.isArray) ?? [];
    const now = list.map(({ id }) => id).filter((id) => order.includes(id));
    expect(now.join() === order.join(), `${operation}: ${now.join()} is not the order ${order.join()}`);
  };
  for (const text of ['A', 'B']) {
    const pattern = `${text}${stage.random.below(1e9)}-(?P<id>[0-9]+)`;
    await stage.must(owner, 'add-linkifier', { pattern, url_template: 'https://t.example/{id}' });
    await stage.must(owner, 'create-channel-folder', { name: named(stage, 'folder ') });
    await stage.must(owner, 'create-profile-field', { name: named(stage, 'field '), field_type: 1 });
  }
  const { linkifiers } = await stage.must(owner, 'get-linkifiers');
  const linkifierIds: number[] = linkifiers.map(({ id }: Json) => id);
  await reversed('reorder-linkifiers', 'get-linkifiers', linkifierIds, 'ordered_linkifier_ids');
  await stage.refused(owner, 'reorder-linkifiers', { ordered_linkifier_ids: linkifierIds.slice(1) }, refusal);
  const { channel_folders } = await stage.must(owner, 'get-channel-folders', { include_archived: true });
  await reversed(
    'reorder-channel-folders',
    'get-channel-folders',
    channel_folders.map(({ id }: Json) => id),
    'order',
  );
  const { custom_fields } = await stage.must(owner, 'get-profile-fields');
  const fieldIds: number[] = custom_fields.map(({ id }: Json) => id);
  await reversed('reorder-profile-fields', 'get-profile-fields', fieldIds, 'order');
  for (const filter_id of linkifierIds) await stage.must(owner, 'remove-linkifier', { filter_id });
  for (const field_id of fieldIds) await stage.must(owner, 'remove-profile-field', { field_id });
}

export async function pictures(stage: Stage): Promise<void> {
  const owner = await stage.person('administrator');
  const emoji_name = named(stage, 'emoji');
  await stage.must(owner, 'add-realm-emoji', { emoji_name, file: validFile });
  const { emoji } = await stage.must(owner, 'get-realm-emoji');
  const made = Object.values(emoji as Record<string, Json>).find(({ name }) => name === emoji_name);
  expect(made !== undefined, `an emoji that was uploaded is not listed: ${emoji_name}`);
  await stage.must(undefined, 'emoji-picture', { emoji_id: made.id });
  await stage.must(owner, 'remove-realm-emoji', { emoji_name });
  await stage.refused(owner, 'remove-realm-emoji', { emoji_name }, refusal);

  const { avatar_url } = await stage.must(owner, 'set-avatar', { file: validFile });
  const who = /\/user_avatars\/of\/([^/?]+)/.exec(avatar_url)?.[1];
  expect(who !== undefined, `an uploaded avatar is at ${avatar_url}`);
  await stage.must(undefined, 'uploaded-avatar', { who: decodeURIComponent(who) });
  await stage.must(undefined, 'medium-uploaded-avatar', { who: decodeURIComponent(who) });
  await stage.must(owner, 'remove-avatar');

  const night = stage.random.chance(0.5);
  await stage.must(owner, 'add-realm-logo', { night, file: validFile });
  await stage.must(owner, 'add-realm-icon', { file: validFile });
  await stage.must(undefined, 'realm-picture', { kind: 'icon' });
  await stage.must(undefined, 'realm-picture', { kind: night ? 'night_logo' : 'logo' });
  await stage.must(owner, 'remove-realm-logo', { night });
  await stage.must(owner, 'remove-realm-icon');
}

export async function upload(stage: Stage): Promise<void> {
  const [owner, other] = [await stage.person('member'), await stage.person('administrator')];
  const { url } = await stage.must(owner, 'upload-file', { file: validFile });
  const [realm_id_str, ...rest] = String(url)
    .replace(/^\/?user_uploads\//, '')
    .split('/');
  const filename = rest.map(decodeURIComponent).join('/');
  await stage.refused(other, 'get-file-url', { realm_id_str, filename }, ['BAD_REQUEST', 'NOT_FOUND']);
  const temporary = await stage.must(owner, 'get-file-url', { realm_id_str, filename });
  const [access, name] = String(temporary.url).split('/').slice(-2);
  await stage.must(undefined, 'get-temporary-file', { access, name: decodeURIComponent(name ?? '') });
  const { attachments } = await stage.must(owner, 'get-attachments');
  await stage.refused(other, 'delete-attachment', { attachment_id: attachments[0]?.id }, refusal);
  await stage.must(owner, 'delete-attachment', { attachment_id: attachments[0]?.id });
  await stage.refused(owner, 'get-file-url', { realm_id_str, filename }, ['BAD_REQUEST', 'NOT_FOUND']);
}

async function invited(stage: Stage): Promise<{ owner: Caller; email: string; invite_id: number; mails: number }> {
  const owner = await stage.person('administrator');
  const mails = stage.mailCount();
  const email = `${named(stage, 'invited')}@fuzz.example`;
  await stage.must(owner, 'send-invites', { invitee_emails: email, stream_ids: [] });
  const { invites } = await stage.must(owner, 'get-invites');
  const made = invites.find((one: Json) => one.email === email);
  expect(made !== undefined, 'an invitation that was sent is not listed');
  return { owner, email, invite_id: made.id, mails };
}

export async function revokedInvitation(stage: Stage): Promise<void> {
  const { owner, email, invite_id, mails } = await invited(stage);
  await stage.must(owner, 'resend-invite', { invite_id });
  const key = await stage.mailedKey(email, mails);
  await stage.must(owner, 'revoke-invite', { invite_id });
  await stage.refused(owner, 'revoke-invite', { invite_id }, refusal);
  await stage.refused(undefined, 'join', { key, full_name: named(stage, 'Ida '), password }, refusal);
}

async function joined(stage: Stage, operation: string): Promise<void> {
  const { email, mails } = await invited(stage);
  const key = await stage.mailedKey(email, mails);
  await stage.must(undefined, 'confirm-page', { key });
  const account = { key, full_name: named(stage, 'Ida '), password };
  await stage.must(undefined, operation, account);
  await stage.refused(undefined, 'join', { ...account, full_name: named(stage, 'Ida ') }, refusal);
}

export const joining = (stage: Stage): Promise<void> => joined(stage, 'join');
export const joiningByPage = (stage: Stage): Promise<void> => joined(stage, 'join-by-page');

export async function invitationLink(stage: Stage): Promise<void> {
  const owner = await stage.person('administrator');
  const { invite_link } = await stage.must(owner, 'create-invite-link', {});
  await stage.must(undefined, 'join-page', { key: keyOf(invite_link) });
  const { invites } = await stage.must(owner, 'get-invites');
  const made = invites.find((one: Json) => keyOf(one.link_url) === keyOf(invite_link));
  expect(made !== undefined, 'a link that was made is not listed');
  await stage.must(owner, 'revoke-invite-link', { invite_id: made.id });
  await stage.refused(undefined, 'join-page', { key: keyOf(invite_link) }, ['404']);
}

export async function domains(stage: Stage): Promise<void> {
  const owner = stage.owner;
  const domain = `${named(stage, 'd')}.example`;
  await stage.must(owner, 'add-realm-domain', { domain, allow_subdomains: false });
  await stage.must(owner, 'update-realm-domain', { domain, allow_subdomains: true });
  await stage.refused(owner, 'add-realm-domain', { domain, allow_subdomains: false }, refusal);
  await stage.must(owner, 'remove-realm-domain', { domain });
  await stage.refused(owner, 'remove-realm-domain', { domain }, refusal);
}

export async function defaultGroup(stage: Stage): Promise<void> {
  const owner = stage.owner;
  const channels = [named(stage, 'channel '), named(stage, 'channel ')];
  for (const name of channels) await stage.must(owner, 'create-channel', { name, subscribers: [] });
  const group_name = named(stage, 'group ');
  const values = { group_name, description: 'd', stream_names: channels.slice(0, 1) };
  await stage.must(owner, 'create-default-group', values);
  const asked = { event_types: ['message'], fetch_event_types: ['default_stream_groups'] };
  const groupNow = async (): Promise<Json> => {
    const { realm_default_stream_groups } = await stage.must(owner, 'register', asked);
    return realm_default_stream_groups.find(({ name }: Json) => name === group_name);
  };
  const { id: group_id } = await groupNow();
  await stage.must(owner, 'change-default-group', { group_id, op: 'add', stream_names: channels.slice(1) });
  await stage.must(owner, 'update-default-group', { group_id, new_description: 'e' });
  const { streams, description } = await groupNow();
  expect(streams.length === 2 && description === 'e', `a changed group is ${streams.length} ${description}`);
  await stage.must(owner, 'delete-default-group', { group_id });
  expect((await groupNow()) === undefined, 'a group of default channels that was deleted is told');
}

export async function subgroups(stage: Stage): Promise<void> {
  const owner = stage.owner;
  const made = async (): Promise<number> => {
    const values = { name: named(stage, 'group '), description: 'd', members: [owner.user_id] };
    return (await stage.must(owner, 'create-user-group', values)).group_id;
  };
  const [user_group_id, inner] = [await made(), await made()];
  await stage.must(owner, 'update-subgroups', { user_group_id, add: [inner] });
  await stage.refused(owner, 'update-subgroups', { user_group_id: inner, add: [user_group_id] }, refusal);
  await stage.refused(owner, 'remove-user-group', { user_group_id: inner }, ['CANNOT_DEACTIVATE_GROUP_IN_USE']);
  const { subgroups: ids } = await stage.must(owner, 'get-subgroups', { user_group_id });
  expect(ids.join() === String(inner), `a group with the subgroup ${inner} has ${ids.join()}`);
  await stage.must(owner, 'update-subgroups', { user_group_id, delete: [inner] });
  await stage.must(owner, 'remove-user-group', { user_group_id: inner });
}

export async function playground(stage: Stage): Promise<void> {
  const values = {
    name: named(stage, 'p'),
    pygments_language: 'python',
    url_template: 'https://run.example/?c={code}',
  };
  const { id: playground_id } = await stage.must(stage.owner, 'add-playground', values);
  await stage.refused(stage.owner, 'add-playground', values, refusal);
  await stage.must(stage.owner, 'remove-playground', { playground_id });
  await stage.refused(stage.owner, 'remove-playground', { playground_id }, refusal);
}
