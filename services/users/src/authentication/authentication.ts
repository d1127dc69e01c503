import { type Actor, badRequest, ChatError, userOperations } from '@natter/contracts';
import { type Handlers, handle, type Logger, type Owner } from '@natter/service-kit';
import { type Asked, type FindActor, invalidKey, refreshedActor, toActor } from '../model/actors.ts';
import type { Guesses } from '../model/credentials/guesses.ts';
import { apiKeyId } from '../model/credentials/passwords.ts';
import { type SessionLimits, useSession } from '../model/sessions.ts';

export function authenticationHandlers(
  { database }: Owner,
  { find, guesses, config, log }: { find: FindActor; guesses: Guesses; config: SessionLimits; log: Logger },
): Handlers {
  const actorOf = async (asked: Asked, unknown: () => ChatError): Promise<Actor> =>
    toActor(asked, await find(asked), unknown);

  return [
    handle(userOperations.authenticate, async ({ meta }, { email, api_key }) => {
      try {
        return await actorOf({ realm_id: meta.realmId, key_hash: apiKeyId(api_key), email }, invalidKey);
      } catch (error) {
        const isWrong = error instanceof ChatError && error.code === 'INVALID_API_KEY';
        const { realmId, network = 'unknown' } = meta;
        // Counts by name without a look-up, so that neither answer nor response time reveals whether an account exists.
        if (isWrong && email !== undefined) await guesses.wrongKey({ realmId, network }, email);
        throw error;
      }
    }),
    handle(userOperations.authenticateSession, async ({ meta }, { session }) => {
      const id = apiKeyId(session);
      const actor = await actorOf({ realm_id: meta.realmId, key_hash: id }, invalidKey);
      const used = await useSession(database, id, config);
      if (!used) throw invalidKey();
      // If the database refuses writes, the session stays valid.
      void used.extend?.().catch((error: unknown) => log.warn({ err: error }, 'extending a session failed'));
      return { actor, seconds_left: used.secondsLeft };
    }),
    handle(userOperations.refreshActor, ({ meta }, { user_id, key_id }) =>
      refreshedActor(find, { realmId: meta.realmId, userId: user_id, keyId: key_id }),
    ),
    handle(userOperations.describeActor, ({ meta }, { user_id }) =>
      actorOf({ realm_id: meta.realmId, user_id }, () => badRequest('No such user')),
    ),
  ];
}
