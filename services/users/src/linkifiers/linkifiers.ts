import { badRequest, ChatError, type Linkifier, type LogEvent, realmOperations, totals } from '@natter/contracts';
import { duplicateAs, lock, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handle, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { isPermutation } from '../model/is-permutation.ts';
import { readLinkifiers } from '../model/linkifiers.ts';
import { templateVariables } from '../model/url-template.ts';

export function linkifierHandlers(owner: Owner): Handlers {
  const changeList = <R>(context: WriteContext, write: (work: Work) => Promise<R>): Promise<R> =>
    context.write(async (work) => {
      // The lock serializes changes, so that every announced list includes the previous change.
      await lock(work, 'linkifiers');
      const result = await write(work);
      work.emit(changed(await readLinkifiers(work, work.realmId)));
      // Messages sent from now on are rendered with the new list.
      work.bump('realm');
      return result;
    });
  const check = async ({ actor }: WriteContext, pattern: string, template: string): Promise<void> => {
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

    handleWrite(realmOperations.addLinkifier, async (context, { pattern, url_template }) => {
      await check(context, pattern, url_template);
      return changeList(context, async (work) => {
        const made = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.linkifier (realm_id, pattern, url_template, position)
            SELECT ${work.realmId}, ${pattern}, ${url_template}, coalesce(max(position), 0) + 1 FROM users.linkifier WHERE realm_id = ${work.realmId}
            RETURNING id`)
          .catch(refuseDuplicate);
        await requireRoomForLinkifiers(work);
        return made;
      });
    }),

    handleWrite(realmOperations.updateLinkifier, async (context, { filter_id, pattern, url_template }) => {
      await check(context, pattern, url_template);
      return changeList(context, async (work) => {
        const updated = await work
          .run(sql.unsafe`
            UPDATE users.linkifier SET pattern = ${pattern}, url_template = ${url_template} WHERE realm_id = ${work.realmId} AND id = ${filter_id}`)
          .catch(refuseDuplicate);
        if (updated === 0) throw badRequest('Linkifier not found.');
        await requireRoomForLinkifiers(work);
        return {};
      });
    }),

    handleWrite(realmOperations.removeLinkifier, (context, { filter_id }) =>
      changeList(context, async (work) => {
        const removed = await work.run(
          sql.unsafe`DELETE FROM users.linkifier WHERE realm_id = ${work.realmId} AND id = ${filter_id}`,
        );
        if (removed === 0) throw badRequest('Linkifier not found.');
        return {};
      }),
    ),

    handleWrite(realmOperations.reorderLinkifiers, (context, { ordered_linkifier_ids }) =>
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

const requireRoomForLinkifiers = (work: Work): Promise<void> =>
  requireRoom(
    work,
    totals.linkifiers,
    sql.fragment`users.linkifier WHERE realm_id = ${work.realmId}`,
    sql.fragment`octet_length(pattern) + octet_length(url_template)`,
  );

/** Queues that do not support URL templates do not receive these events. */
const changed = (realm_linkifiers: Linkifier[]): LogEvent => ({
  type: 'realm_linkifiers',
  body: { realm_linkifiers },
  audience: 'realm',
  forms: [{ capability: 'linkifier_url_template', is: false, patch: null }],
});

function checkVariables(pattern: string, template: string): void {
  const groups = new Set([...pattern.matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map((match) => match[1] ?? ''));
  const variables = templateVariables(template);
  for (const name of groups)
    if (!variables.has(name)) throw badRequest(`Group '${name}' in linkifier pattern is not present in URL template.`);
  for (const name of variables)
    if (!groups.has(name)) throw badRequest(`Group '${name}' in URL template is not present in linkifier pattern.`);
}

const refuseDuplicate = duplicateAs(() => badRequest('Linkifier already exists.'));
