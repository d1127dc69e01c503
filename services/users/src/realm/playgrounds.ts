import { badRequest, type Playground, playgroundSchema, realmOperations, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, sqlState, type Work } from '@natter/database';
import { type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { change } from '../change.ts';
import { holderOf, requireAdministrator } from '../groups/holder.ts';
import { templateVariables } from './url-template.ts';

export function playgroundHandlers(owner: Owner): Handlers {
  const changeList = <R>(context: UserContext, write: (work: Work) => Promise<R>): Promise<R> =>
    change(owner, context, async (work) => {
      requireAdministrator(await holderOf(work, context.actor.userId));
      // One change at a time, so that every announced list holds what the one before it did.
      await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7302, ${work.realmId})`);
      const result = await write(work);
      const realm_playgrounds = await readPlaygrounds(work, work.realmId);
      work.emit({ type: 'realm_playgrounds', body: { realm_playgrounds }, audience: 'realm' });
      return result;
    });
  return [
    handle(realmOperations.addPlayground, (context, { name, pygments_language, url_template }) => {
      checkPlayground(name, pygments_language, url_template);
      return changeList(context, async (work) => {
        const made = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.playground (realm_id, name, pygments_language, url_template)
            VALUES (${work.realmId}, ${name}, ${pygments_language}, ${url_template}) RETURNING id`)
          .catch((error: unknown) => {
            if (sqlState(error) === '23505')
              throw badRequest('Realm playground with this Realm, Pygments language and Name already exists.');
            throw error;
          });
        await requireRoom(work, totals.playgrounds, sql.fragment`users.playground WHERE realm_id = ${work.realmId}`);
        return made;
      });
    }),

    handle(realmOperations.removePlayground, (context, { playground_id }) =>
      changeList(context, async (work) => {
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.playground WHERE realm_id = ${work.realmId} AND id = ${playground_id}`,
        );
        if (removed === 0) throw badRequest('Invalid playground');
        return {};
      }),
    ),
  ];
}

export const readPlaygrounds = (executor: Executor, realmId: number): Promise<Playground[]> =>
  executor.any(
    sql.type(
      playgroundSchema,
    )`SELECT id, name, pygments_language, url_template FROM users.playground WHERE realm_id = ${realmId} ORDER BY id`,
  );

function checkPlayground(name: string, language: string, template: string): void {
  if (name === '') throw badRequest('name cannot be blank');
  if (name.length > 50) throw badRequest('name is too long (limit: 50 characters)');
  if (!/^[ a-zA-Z0-9_+\-./#]{1,40}$/.test(language)) throw badRequest('Invalid characters in pygments language');
  const variables = templateVariables(template);
  if (!variables.has('code')) throw badRequest('Missing the required variable "code" in the URL template');
  if (variables.size > 1) throw badRequest('"code" should be the only variable present in the URL template');
}
