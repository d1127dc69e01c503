import { badRequest, ChatError, type Linkifier, linkifierSchema, realmOperations, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, sqlState, type Work } from '@natter/database';
import { type Handlers, handle, type Owner, type UserContext } from '@natter/service-kit';
import { z } from 'zod';
import { change } from '../change.ts';
import { holderOf, requireAdministrator } from '../groups/holder.ts';
import { templateVariables } from './url-template.ts';

export function linkifierHandlers(owner: Owner): Handlers {
  const changeList = <R>(context: UserContext, write: (work: Work) => Promise<R>): Promise<R> =>
    change(owner, context, async (work) => {
      requireAdministrator(await holderOf(work, context.actor.userId));
      // One change at a time, so that every announced list holds what the one before it did.
      await work.run(sql.unsafe`SELECT pg_advisory_xact_lock(7301, ${work.realmId})`);
      const result = await write(work);
      work.emit(changed(await readLinkifiers(work, work.realmId)));
      // What is sent from now on is rendered with them.
      work.bump('realm');
      return result;
    });
  /** Compiling a pattern costs up to the renderer's limit, so only administrators get that far. */
  const check = async ({ actor }: UserContext, pattern: string, template: string): Promise<void> => {
    requireAdministrator(await holderOf(owner.database, actor.userId));
    checkVariables(pattern, template);
    const isPattern = pattern !== '' && (await owner.renderer.isLinkifierPattern(actor, pattern));
    if (isPattern === undefined) throw new ChatError('SERVICE_UNAVAILABLE', 'The pattern could not be checked in time');
    if (!isPattern) throw badRequest('Bad regular expression');
  };
  return [
    handle(realmOperations.getLinkifiers, async ({ actor }) => ({
      linkifiers: await readLinkifiers(owner.database, actor.realmId),
    })),

    handle(realmOperations.getFilters, async () => ({ filters: [] })),

    handle(realmOperations.addLinkifier, async (context, { pattern, url_template }) => {
      await check(context, pattern, url_template);
      return changeList(context, async (work) => {
        const made = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.linkifier (realm_id, pattern, url_template, position)
            SELECT ${work.realmId}, ${pattern}, ${url_template}, coalesce(max(position), 0) + 1 FROM users.linkifier WHERE realm_id = ${work.realmId}
            RETURNING id`)
          .catch(refuseDuplicate);
        await requireRoom(work, totals.linkifiers, sql.fragment`users.linkifier WHERE realm_id = ${work.realmId}`);
        return made;
      });
    }),

    handle(realmOperations.updateLinkifier, async (context, { filter_id, pattern, url_template }) => {
      await check(context, pattern, url_template);
      return changeList(context, async (work) => {
        const updated = await work
          .run(sql.unsafe`
            UPDATE users.linkifier SET pattern = ${pattern}, url_template = ${url_template} WHERE realm_id = ${work.realmId} AND id = ${filter_id}`)
          .catch(refuseDuplicate);
        if (updated === 0) throw badRequest('Linkifier not found.');
        return {};
      });
    }),

    handle(realmOperations.removeLinkifier, (context, { filter_id }) =>
      changeList(context, async (work) => {
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.linkifier WHERE realm_id = ${work.realmId} AND id = ${filter_id}`,
        );
        if (removed === 0) throw badRequest('Linkifier not found.');
        return {};
      }),
    ),

    handle(realmOperations.reorderLinkifiers, (context, { ordered_linkifier_ids }) =>
      changeList(context, async (work) => {
        const known = (await readLinkifiers(work, work.realmId)).map(({ id }) => id);
        if (!isPermutation(ordered_linkifier_ids, known))
          throw badRequest('The ordered list must enumerate all existing linkifiers exactly once');
        await work.run(sql.unsafe`
          UPDATE users.linkifier l SET position = o.position FROM unnest(${sql.array(ordered_linkifier_ids, 'int4')}) WITH ORDINALITY o(id, position)
          WHERE l.id = o.id AND l.realm_id = ${work.realmId}`);
        return {};
      }),
    ),
  ];
}

export const readLinkifiers = (executor: Executor, realmId: number): Promise<Linkifier[]> =>
  executor.any(
    sql.type(
      linkifierSchema,
    )`SELECT id, pattern, url_template FROM users.linkifier WHERE realm_id = ${realmId} ORDER BY position, id`,
  );

/** Queues that do not know URL templates get no such events. */
const changed = (realm_linkifiers: Linkifier[]) => ({
  type: 'realm_linkifiers',
  body: { realm_linkifiers },
  audience: 'realm' as const,
  forms: [{ capability: 'linkifier_url_template', is: false, patch: null }],
});

export const isPermutation = (given: readonly number[], known: readonly number[]): boolean =>
  given.length === known.length && new Set(given).size === given.length && given.every((id) => known.includes(id));

function checkVariables(pattern: string, template: string): void {
  const groups = new Set([...pattern.matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map((match) => match[1] ?? ''));
  const variables = templateVariables(template);
  for (const name of groups)
    if (!variables.has(name)) throw badRequest(`Group '${name}' in linkifier pattern is not present in URL template.`);
  for (const name of variables)
    if (!groups.has(name)) throw badRequest(`Group '${name}' in URL template is not present in linkifier pattern.`);
}

function refuseDuplicate(error: unknown): never {
  if (sqlState(error) === '23505') throw badRequest('Linkifier already exists.');
  throw error;
}
