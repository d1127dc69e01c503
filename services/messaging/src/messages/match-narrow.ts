import { type MessageObject, messageReadingOperations } from '@natter/contracts';
import { type Handlers, handle, type Owner } from '@natter/service-kit';
import { escaped } from '../model/reading/message-object.ts';
import { parseNarrow } from '../model/reading/narrow/narrow.ts';
import { pageOfIds, selectAmong } from '../model/reading/page.ts';
import { type Reading, readerOf } from '../model/reading/reader.ts';
import { scopeOf } from '../model/reading/scope.ts';
import { requireWithinBytes } from './page-bytes.ts';
import { readPage } from './read-page.ts';

export function matchNarrowHandlers(owner: Owner, reading: Reading): Handlers {
  const { database } = owner;
  return [
    handle(messageReadingOperations.matchNarrow, async ({ actor, meta }, { msg_ids, narrow }) => {
      const reader = readerOf(owner, reading, actor, meta);
      const scope = await scopeOf(reader, parseNarrow(narrow), msg_ids);
      const ids = await selectAmong(database, scope, msg_ids);
      const policy = await reading.policies.get(meta, false);
      const shown = {
        renderer: owner.renderer,
        applyMarkdown: true,
        clientGravatar: false as const,
        allowEmptyTopic: true,
        search: scope.search,
      };
      const viewer = { realmId: meta.realmId, userId: actor.userId, botOwnerId: actor.botOwnerId, policy };
      const messages: MessageObject[] = [];
      await readPage(database, viewer, pageOfIds(ids), {
        shown,
        limit: requireWithinBytes,
        take: (objects) => messages.push(...objects),
      });
      return {
        messages: Object.fromEntries(
          messages.map((message) => [
            String(message.id),
            {
              match_content: String(message.match_content ?? message.content),
              match_subject: String(message.match_subject ?? escaped(String(message.subject))),
            },
          ]),
        ),
      };
    }),
  ];
}
