import {
  type Actor,
  badRequest,
  ChatError,
  type MessageObject,
  messageReadingOperations,
  missingArgument,
  notLoggedIn,
  type ParamsOf,
  type RealmPolicy,
  type RequestMeta,
  unknownUser,
} from '@natter/contracts';
import { sql } from '@natter/database';
import { type Handlers, handle, JsonPieces, type Owner, toJson } from '@natter/service-kit';
import { messageObjects } from '../model/reading/message-object.ts';
import { parseNarrow, type Term } from '../model/reading/narrow/narrow.ts';
import { pageOf, pageOfIds, select } from '../model/reading/page.ts';
import { type Reader, type Reading, readerOf } from '../model/reading/reader.ts';
import { scopeOf } from '../model/reading/scope.ts';
import { requireWithinBytes, withinBytes } from './page-bytes.ts';
import { readPage } from './read-page.ts';

type Params = ParamsOf<typeof messageReadingOperations.getMessages>;
export const maxPage = 5_000;

export function getMessagesHandlers(owner: Owner, reading: Reading): Handlers {
  const { database } = owner;
  /** Users whom the reader may not see, with their placeholders. */
  const unknownOf = async (actor: Actor | undefined, meta: RequestMeta, policy: RealmPolicy) => {
    const ids = actor ? await reading.userVisibility.hiddenFrom(actor, meta, policy) : [];
    return new Map([...ids].map((id) => [id, unknownUser(id, policy.host)]));
  };
  return [
    handle(messageReadingOperations.getMessages, async ({ actor, meta }, params) => {
      const policy = await reading.policies.get(meta, false);
      const terms = parseNarrow(params.narrow);
      if (!actor) await refuseStrangers(reading, meta, terms);
      const reader = readerOf(owner, reading, actor, meta);
      const scope = await scopeOf(reader, terms, params.message_ids);
      const found = params.message_ids
        ? await byIds(reader, scope, params.message_ids, params)
        : await pageOf(reader, scope, wantedOf(params, terms));
      const shown = {
        renderer: owner.renderer,
        applyMarkdown: params.apply_markdown,
        clientGravatar: params.client_gravatar && actor !== undefined && { role: actor.role },
        allowEmptyTopic: params.allow_empty_topic_name,
        search: scope.search,
        unknown: await unknownOf(actor, meta, policy),
      };
      const pieces: Uint8Array[] = [];
      const viewer = { realmId: meta.realmId, userId: actor?.userId ?? 0, policy };
      const limit = params.message_ids ? requireWithinBytes : withinBytes;
      const take = (objects: readonly MessageObject[]): void => {
        const text = objects.map((object) => JSON.stringify(object)).join(',');
        if (text !== '') pieces.push(Buffer.from(`${pieces.length === 0 ? '' : ','}${text}`));
      };
      const page = await readPage(database, viewer, found, { shown, limit, take });
      const messages = new JsonPieces([Buffer.from('['), ...pieces, Buffer.from(']')]);
      return toJson({
        anchor: page.anchor,
        found_anchor: page.foundAnchor,
        found_newest: page.foundNewest,
        found_oldest: page.foundOldest,
        history_limited: false,
        messages,
      });
    }),

    handle(messageReadingOperations.getMessage, async ({ actor, meta }, params) => {
      const { content } = await reading.messages.readable(database, actor, meta, params.message_id);
      const policy = await reading.policies.get(meta, false);
      const viewer = { realmId: meta.realmId, userId: actor.userId, policy };
      const [message] = await messageObjects(database, viewer, [params.message_id], {
        renderer: owner.renderer,
        applyMarkdown: params.apply_markdown,
        clientGravatar: false,
        allowEmptyTopic: params.allow_empty_topic_name,
        unknown: await unknownOf(actor, meta, policy),
      });
      if (!message) throw badRequest('Invalid message(s)');
      return { message, raw_content: content };
    }),
  ];
}

function wantedOf(params: Params, terms: readonly Term[]) {
  const near = terms.find((term) => term.operator === 'near')?.operand;
  const anchor = params.use_first_unread_anchor ? 'first_unread' : (params.anchor ?? near);
  if (anchor === undefined) throw missingArgument('anchor');
  if (params.num_before === undefined) throw missingArgument('num_before');
  if (params.num_after === undefined) throw missingArgument('num_after');
  if (params.num_before + params.num_after > maxPage)
    throw badRequest(`Too many messages requested (maximum ${maxPage}).`);
  return {
    anchor: anchor as number | string,
    date: anchor === 'date' ? dateOf(params.anchor_date) : undefined,
    includeAnchor: params.include_anchor,
    before: params.num_before,
    after: params.num_after,
  };
}

/** Seconds since 1970. */
function dateOf(given: string | undefined): number {
  if (given === undefined) throw missingArgument('anchor_date');
  const form = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.exec(
    given.trim(),
  );
  const time = form
    ? Date.parse(given.trim().replace(' ', 'T') + (form[1] || !/[T ]/.test(given.trim()) ? '' : 'Z'))
    : Number.NaN;
  if (Number.isNaN(time)) throw badRequest('anchor_date is not a valid date');
  return time / 1000;
}

async function byIds(
  reader: Reader,
  scope: Awaited<ReturnType<typeof scopeOf>>,
  ids: readonly number[],
  params: Params,
) {
  if (params.anchor !== undefined || params.num_before !== undefined || params.num_after !== undefined)
    throw new ChatError('INCOMPATIBLE_PARAMETERS', 'Unsupported parameter combination: message_ids, anchor', {
      parameters: 'message_ids, anchor, num_before, num_after',
    });
  if (ids.length > maxPage) throw badRequest(`Too many messages requested (maximum ${maxPage}).`);
  const found = await select(reader.executor, scope, {
    where: sql.fragment`m.id = ANY(${sql.array([...ids], 'int8')})`,
    order: 'ASC',
    limit: maxPage,
  });
  return pageOfIds(found);
}

/** Without authentication only web-public messages can be read, and only if the narrow asks for those. */
async function refuseStrangers({ policies }: Reading, meta: RequestMeta, terms: readonly Term[]): Promise<void> {
  const policy = await policies.get(meta, true);
  const isOpen = terms.some(
    (term) =>
      (term.operator === 'channels' && term.operand === 'web-public' && !term.negated) ||
      (term.operator === 'channel' && !term.negated),
  );
  if (!policy.settings.enable_spectator_access || !isOpen) throw notLoggedIn();
}
