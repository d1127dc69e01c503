import { badRequest, realmOperations, totals } from '@natter/contracts';
import { duplicateAs, lock, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handleWrite, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { isWebUrl } from '../model/field-rules.ts';
import { readPlaygrounds } from '../model/playgrounds.ts';
import { templateVariables } from '../model/url-template.ts';

export function playgroundHandlers(): Handlers {
  const changeList = <R>(context: WriteContext, write: (work: Work) => Promise<R>): Promise<R> =>
    context.write(async (work) => {
      // The lock serializes changes, so that every announced list includes the previous change.
      await lock(work, 'playgrounds');
      const result = await write(work);
      const realm_playgrounds = await readPlaygrounds(work, work.realmId);
      work.emit({ type: 'realm_playgrounds', body: { realm_playgrounds }, audience: 'realm' });
      return result;
    });
  return [
    handleWrite(realmOperations.addPlayground, (context, { name, pygments_language, url_template }) => {
      checkPlayground(name, pygments_language, url_template);
      return changeList(context, async (work) => {
        const made = await work
          .one(sql.type(z.object({ id: z.number() }))`
            INSERT INTO users.playground (realm_id, name, pygments_language, url_template)
            VALUES (${work.realmId}, ${name}, ${pygments_language}, ${url_template}) RETURNING id`)
          .catch(
            duplicateAs(() =>
              badRequest('Realm playground with this Realm, Pygments language and Name already exists.'),
            ),
          );
        await requireRoom(work, totals.playgrounds, sql.fragment`users.playground WHERE realm_id = ${work.realmId}`);
        return made;
      });
    }),

    handleWrite(realmOperations.removePlayground, (context, { playground_id }) =>
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

function checkPlayground(name: string, language: string, template: string): void {
  if (name === '') throw badRequest('name cannot be blank');
  if (!/^[ a-zA-Z0-9_+\-./#]{1,40}$/.test(language)) throw badRequest('Invalid characters in pygments language');
  const variables = templateVariables(template);
  if (!variables.has('code')) throw badRequest('Missing the required variable "code" in the URL template');
  // Clients open the address when somebody clicks on a block of code: it must not run a script.
  if (!isWebUrl(template.replace(/\{[^{}]*\}/g, 'code'))) throw badRequest('Invalid URL template.');
  if (variables.size > 1) throw badRequest('"code" should be the only variable present in the URL template');
}
