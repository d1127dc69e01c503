import { badRequest, isAdministrator, messageChangeOperations, totals } from '@natter/contracts';
import { requireRoom, requireShare, sql } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { type MessageAccess, requireChangeable } from '../model/message-access.ts';
import { audienceOf, holdMessage, withActor } from '../model/message-audience.ts';
import { isOfPerson } from '../model/owner-of.ts';
import { participate } from '../model/sending/participation.ts';
import { requireSubmessageData } from './submessage-data.ts';

const maxContentLength = 100_000;

/** Additions to a message, such as the votes and tasks of its widget. The content is JSON for clients. */
export function submessageHandlers({ database }: Owner, access: MessageAccess): Handlers {
  return [
    handleWrite(messageChangeOperations.addSubmessage, async (context, params) => {
      const { actor, meta } = context;
      const message = await access.readable(database, actor, meta, params.message_id);
      requireChangeable(message.channel);
      if (!isJson(params.content) || params.content.length > maxContentLength)
        throw badRequest('Invalid json for submessage');
      return context.write(async (work) => {
        await holdMessage(work, message);
        // Only messages to which their sender added a submessage accept those of others.
        const begun = await work.maybeOne(sql.type(submessageRow)`
          SELECT msg_type, content FROM messaging.submessage WHERE realm_id = ${work.realmId} AND message_id = ${message.id}
          ORDER BY msg_type = 'widget' DESC, id LIMIT 1`);
        const isAuthor = message.sender_id === actor.userId;
        if (!begun && !isAuthor) throw badRequest('You cannot attach a submessage to this message.');
        requireSubmessageData(begun && typeOf(begun), JSON.parse(params.content), isAuthor);
        const { id } = await work.one(sql.type(z.object({ id: z.number() }))`
          INSERT INTO messaging.submessage (realm_id, message_id, sender_id, msg_type, content)
          VALUES (${work.realmId}, ${message.id}, ${actor.userId}, ${params.msg_type}, ${params.content}) RETURNING id`);
        const rows = sql.fragment`messaging.submessage WHERE realm_id = ${work.realmId} AND message_id = ${message.id}`;
        const bytes = sql.fragment`octet_length(content)`;
        if (!isAuthor && !isAdministrator(actor))
          await requireShare(
            work,
            totals.submessages,
            sql.fragment`${rows} AND ${isOfPerson(actor, sql.fragment`submessage.sender_id`)}`,
            bytes,
          );
        await requireRoom(work, totals.submessages, rows, bytes);
        const body = {
          msg_type: params.msg_type,
          content: params.content,
          message_id: message.id,
          sender_id: actor.userId,
          submessage_id: id,
        };
        const audience = withActor(await audienceOf(work, message, [message.id]), actor.userId);
        work.emit({ type: 'submessage', body, audience });
        await participate(work, actor, message.id);
        return {};
      });
    }),
  ];
}

const submessageRow = z.object({ msg_type: z.string(), content: z.string() });

/** The type of the widget that a submessage begins. */
function typeOf({ msg_type, content }: z.infer<typeof submessageRow>): string | undefined {
  if (msg_type !== 'widget') return undefined;
  const said = z.object({ widget_type: z.string() }).safeParse(JSON.parse(content));
  return said.success ? said.data.widget_type : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
