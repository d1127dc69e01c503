import { badRequest, messageChangeOperations, totals } from '@natter/contracts';
import { requireRoom, sql } from '@natter/database';
import { type Handlers, handleWrite, type Owner } from '@natter/service-kit';
import { z } from 'zod';
import { type MessageAccess, requireChangeable } from '../model/message-access.ts';
import { audienceOf, holdMessage, withActor } from '../model/message-audience.ts';
import { participate } from '../model/sending/participation.ts';
import { requireSubmessageData } from './submessage-data.ts';

const maxContentLength = 100_000;

/** Additions to the widget of a message: votes, tasks. The content is JSON for clients. */
export function submessageHandlers({ database }: Owner, access: MessageAccess): Handlers {
  return [
    handleWrite(messageChangeOperations.addSubmessage, async (context, params) => {
      const { actor, meta } = context;
      const message = await access.readable(database, actor, meta, params.message_id);
      requireChangeable(message.channel);
      if (params.msg_type !== 'widget') throw badRequest('Invalid msg_type');
      if (!isJson(params.content) || params.content.length > maxContentLength)
        throw badRequest('Invalid json for submessage');
      return context.write(async (work) => {
        await holdMessage(work, message);
        // Only messages whose sender added a widget accept submessages.
        const widget = await work.maybeOne(sql.type(z.object({ content: z.string() }))`
          SELECT content FROM messaging.submessage WHERE realm_id = ${work.realmId} AND message_id = ${message.id} ORDER BY id LIMIT 1`);
        const isAuthor = message.sender_id === actor.userId;
        if (!widget && !isAuthor) throw badRequest('You cannot attach a submessage to this message.');
        requireSubmessageData(widget && typeOf(widget.content), JSON.parse(params.content), isAuthor);
        const { id } = await work.one(sql.type(z.object({ id: z.number() }))`
          INSERT INTO messaging.submessage (realm_id, message_id, sender_id, msg_type, content)
          VALUES (${work.realmId}, ${message.id}, ${actor.userId}, ${params.msg_type}, ${params.content}) RETURNING id`);
        await requireRoom(
          work,
          totals.submessages,
          sql.fragment`messaging.submessage WHERE realm_id = ${work.realmId} AND message_id = ${message.id}`,
          sql.fragment`octet_length(content)`,
        );
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

/** The widget type in the first submessage. */
function typeOf(content: string): string | undefined {
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
