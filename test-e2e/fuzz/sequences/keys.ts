/** A revoked key must not work anywhere after the answer to its revocation. */
import type { Caller, Stage } from './stage.ts';

export const password = 'correct horse fuzz';
const newPassword = 'another horse fuzz';

/** Reads that every caller with a key may do, and writes, of every service. */
const probes: readonly [operation: string, values: Record<string, unknown>][] = [
  ['get-own-user', {}],
  ['get-users', {}],
  ['get-subscriptions', {}],
  ['get-channels', {}],
  ['get-messages', { anchor: 'newest', num_before: 1, num_after: 0 }],
  ['get-drafts', {}],
  ['render-message', { content: 'x' }],
  ['get-realm-presence', {}],
  ['update-presence', { status: 'active' }],
  ['register', { event_types: ['message'], fetch_event_types: [] }],
  ['add-alert-words', { alert_words: ['word'] }],
  ['create-drafts', { drafts: [{ type: '', to: [], topic: '', content: 'x' }] }],
  ['get-events', { dont_block: true, event_types: ['message'] }],
  ['regenerate-api-key', {}],
];
/** The first of them are available to bots too. */
const readsForAll = 5;
/** Wrong keys are counted, and have to wait after some. */
const ended = ['INVALID_API_KEY', 'USER_DEACTIVATED', 'RATE_LIMIT_HIT'];

/** Several concurrent requests, so that more than one gateway is tested. */
async function isEnded(stage: Stage, caller: Caller): Promise<void> {
  const some = Array.from({ length: 4 }, () => stage.random.pick(probes));
  await Promise.all(some.map(([operation, values]) => stage.refused(caller, operation, values, ended)));
}

async function works(stage: Stage, caller: Caller): Promise<void> {
  const [operation, values] = stage.random.pick(probes.slice(0, readsForAll));
  await stage.must(caller, operation, values);
}

export async function deactivatedAndBack(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('member')];
  await works(stage, person);
  await stage.must(owner, 'deactivate-user', { user_id: person.user_id });
  await isEnded(stage, person);
  await stage.must(owner, 'reactivate-user', { user_id: person.user_id });
  await isEnded(stage, person);
}

export async function deactivatedSelf(stage: Stage): Promise<void> {
  const person = await stage.person('member');
  await works(stage, person);
  await stage.must(person, 'deactivate-self');
  await isEnded(stage, person);
}

export async function regenerated(stage: Stage): Promise<void> {
  const person = await stage.person('guest');
  await works(stage, person);
  const { api_key } = await stage.must(person, 'regenerate-api-key');
  await isEnded(stage, person);
  await works(stage, { ...person, api_key });
}

export async function revoked(stage: Stage): Promise<void> {
  const person = await stage.person('member', password);
  const { api_key } = await stage.must(undefined, 'fetch-api-key', { username: person.email, password });
  const other = { ...person, api_key };
  const { api_keys } = await stage.must(other, 'get-api-keys');
  const [first] = api_keys.filter((key: { is_current: boolean }) => !key.is_current);
  await stage.must(other, 'revoke-api-key', { key_id: first.id });
  await isEnded(stage, person);
  await works(stage, other);
}

export async function passwordChanged(stage: Stage): Promise<void> {
  const person = await stage.person('member', password);
  const { api_key } = await stage.must(undefined, 'fetch-api-key', { username: person.email, password });
  const asking = { ...person, api_key };
  await stage.refused(asking, 'update-settings', { old_password: newPassword, new_password: newPassword }, [
    'BAD_REQUEST',
  ]);
  await stage.must(asking, 'update-settings', { old_password: password, new_password: newPassword });
  await isEnded(stage, person);
  await stage.refused(undefined, 'fetch-api-key', { username: person.email, password }, ['AUTHENTICATION_FAILED']);
}

export async function passwordForgotten(stage: Stage): Promise<void> {
  const person = await stage.person('member', password);
  const mails = stage.mailCount();
  await stage.must(undefined, 'ask-for-password', { email: person.email });
  const key = await stage.mailedKey(person.email, mails);
  await stage.must(undefined, 'new-password-page', { key });
  await stage.must(undefined, 'set-password', { key, password: newPassword });
  await isEnded(stage, person);
  await stage.refused(undefined, 'set-password', { key, password: newPassword }, ['404']);
  const { api_key } = await stage.must(undefined, 'fetch-api-key', { username: person.email, password: newPassword });
  await works(stage, { ...person, api_key });
}

export async function addressChanged(stage: Stage): Promise<void> {
  const person = await stage.person('member', password);
  const mails = stage.mailCount();
  const email = `moved${stage.random.below(1e9)}@fuzz.example`;
  await stage.must(person, 'update-settings', { email, old_password: password });
  const key = await stage.mailedKey(email, mails);
  await stage.must(undefined, 'confirm-email-page', { key });
  await stage.must(undefined, 'confirm-email', { key });
  await stage.refused(undefined, 'confirm-email', { key }, ['404']);
  await works(stage, { ...person, email });
  await stage.refused(person, 'get-own-user', {}, ended);
}

export async function botEnded(stage: Stage): Promise<void> {
  const [owner, person] = [stage.owner, await stage.person('member')];
  const { user_id, api_key } = await stage.must(person, 'create-bot', {
    full_name: `Bot ${stage.random.below(1e9)}`,
    short_name: `bot${stage.random.below(1e9)}`,
    bot_type: 1,
  });
  const { bots } = await stage.must(person, 'get-bots');
  const bot = { role: 'bot', user_id, api_key, email: String(bots[0]?.username) };
  await works(stage, bot);
  const { api_key: next } = await stage.must(person, 'regenerate-bot-api-key', { bot_id: user_id });
  await isEnded(stage, bot);
  const renewed = { ...bot, api_key: next };
  await works(stage, renewed);
  if (stage.random.chance(0.5)) await stage.must(person, 'deactivate-bot', { bot_id: user_id });
  else await stage.must(owner, 'deactivate-user', { user_id: person.user_id });
  await isEnded(stage, renewed);
}
