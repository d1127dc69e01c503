import { badRequest, ChatError, type Operation, operations } from '@natter/contracts';
import released from '@natter/contracts/released-requests' with { type: 'json' };
import type { Answer, Answers, Claim } from '@natter/database';
import { expect, test } from 'vitest';
import { answerOnce, claimBesideOther, claimOf, plainFingerprint } from './answer-once.ts';
import { fingerprintOf } from './released-requests.ts';

const claim = (): Claim => ({ userId: 1, namedBy: 'call', key: 'call:1', fingerprint: '' });

/** Stored answers that several processes of a service share. */
function sharedAnswers(): Answers & { stored: Map<string, Answer> } {
  const stored = new Map<string, Answer>();
  return {
    stored,
    find: async (_, { key }) => stored.get(key),
    store: async (_, { key }, answer) => {
      const before = stored.get(key);
      if (!before) stored.set(key, answer);
      return before;
    },
  };
}

const failedAfterCommit = (): never => {
  throw new Error('nothing was committed');
};

test('a write that fails after its commit returns the stored result', async () => {
  const failures: unknown[] = [];
  const own = claim();
  const once = { realmId: 1, claim: own, answers: sharedAnswers(), isRetry: () => false };
  const failing = (error: Error) =>
    answerOnce({ ...once, failedAfterCommit: (failure) => failures.push(failure) }, 'add', async () => {
      own.stored = { result: { id: 5 } };
      throw error;
    });
  const errors = [new Error('no mail server'), badRequest('refused too late')];
  for (const error of errors) expect(await failing(error)).toEqual({ id: 5 });
  expect(failures).toEqual(errors);
});

test('a call that another process completed meanwhile returns the result that the other process stored', async () => {
  const answers = sharedAnswers();
  let attempts = 1;
  const once = { realmId: 1, claim: claim(), answers, isRetry: () => attempts > 1, failedAfterCommit };
  const doneElsewhere = (): void => {
    answers.stored.set('call:1', { result: { detached_uploads: [] } });
    attempts++;
  };
  const refused = answerOnce(once, 'update-message', async () => {
    doneElsewhere();
    throw badRequest('Nothing to change');
  });
  await expect(refused).resolves.toEqual({ detached_uploads: [] });

  answers.stored.clear();
  const withoutChange = answerOnce({ ...once, claim: claim() }, 'add', async () => {
    doneElsewhere();
    return { added: 0 };
  });
  await expect(withoutChange).resolves.toEqual({ detached_uploads: [] });
});

test('a repeated call is refused if no process has completed it', async () => {
  const once = { realmId: 1, claim: claim(), answers: sharedAnswers(), isRetry: () => true, failedAfterCommit };
  const refused = answerOnce(once, 'update-message', () => Promise.reject(badRequest('Nothing to change')));
  await expect(refused).rejects.toEqual(new ChatError('BAD_REQUEST', 'Nothing to change'));
});

test('a limit is not stored, and refuses a completed call only if the call checks a password', async () => {
  const answers = sharedAnswers();
  const limit = new ChatError('RATE_LIMIT_HIT', 'You have moved too many messages. Try again later.');
  const named: Claim = { ...claim(), namedBy: 'key', key: 'key:1' };
  const once = { realmId: 1, answers, isRetry: () => true, failedAfterCommit };
  const limited = (own: Claim, checksPassword: boolean, done?: Answer) =>
    answerOnce({ ...once, claim: own, checksPassword }, 'update-message', () => {
      if (done) answers.stored.set(own.key, done);
      throw limit;
    });
  for (const own of [claim(), named]) {
    await expect(limited(own, false)).rejects.toBe(limit);
    expect(answers.stored.size).toBe(0);
    const done = { result: { detached_uploads: [] } };
    await expect(limited(own, true, done)).rejects.toBe(limit);
    answers.stored.clear();
    await expect(limited(own, false, done)).resolves.toEqual(done.result);
    answers.stored.clear();
  }
});

test('only a local id that named another request gets a second key, and only once', () => {
  const reused = new ChatError('IDEMPOTENCY_KEY_REUSED', 'used for another request');
  const local: Claim = { userId: 1, namedBy: 'local', key: 'local:1:2:17.5', fingerprint: 'f' };
  const other = claimBesideOther(local, reused);
  expect(other).toEqual({ ...local, key: 'local:1:2:17.5:f' });
  expect(other && claimBesideOther(other, reused)).toBeUndefined();
  expect(claimBesideOther(local, badRequest('Invalid channel'))).toBeUndefined();
  expect(claimBesideOther({ ...local, namedBy: 'key', key: 'key:a' }, reused)).toBeUndefined();
});

test('a request has the fingerprint that the previous release stores for it, so it may be repeated during an upgrade', () => {
  const known: Readonly<Record<string, { required: string[]; requests?: unknown[] }>> = released;
  const requests = operations.flatMap((operation) => {
    const recorded = (known[operation.name]?.requests ?? []) as [Record<string, unknown>, string][];
    return recorded.map(([given, fingerprint]) => ({ operation, given, fingerprint }));
  });
  expect(requests.length).toBeGreaterThan(100);
  for (const { operation, given, fingerprint } of requests)
    expect([operation.name, given, fingerprintOf(operation, given)]).toEqual([operation.name, given, fingerprint]);
});

test('a request that earlier releases stored with other defaults may be repeated', () => {
  const otherFingerprintsOf = (name: string, params: Record<string, unknown>) => {
    const operation = operations.find((one) => one.name === name) as Operation;
    const envelope = { meta: { requestId: '', realmId: 1, client: '', idempotencyKey: 'k' }, actor: undefined, params };
    return claimOf(operation, envelope, undefined, plainFingerprint)?.otherFingerprints?.();
  };
  const channel = { name: 'design', description: '', subscribers: [12], announce: false };
  expect(otherFingerprintsOf('create-channel', { ...channel, send_new_subscription_messages: true })).toContain(
    plainFingerprint(`create-channel ${JSON.stringify(channel)}`)[0],
  );
  const bot = { full_name: 'Lunch bot', short_name: 'lunch', bot_type: 1, interface_type: 1 };
  const { full_name, short_name, bot_type, ...others } = bot;
  expect(otherFingerprintsOf('create-bot', bot)).toContain(
    plainFingerprint(
      `create-bot ${JSON.stringify({ full_name, short_name, bot_type, config_data: {}, ...others })}`,
    )[0],
  );
});
