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
import { z } from 'zod';
import { messageObjects } from '../model/reading/message-object.ts';
import { isOfDirectMessages, parseNarrow, type Term } from '../model/reading/narrow/narrow.ts';
import { pageOf, pageOfIds, selectAmong } from '../model/reading/page.ts';
import { accessible } from '../model/reading/readable.ts';
import { type Reader, type Reading, readerOf } from '../model/reading/reader.ts';
import { scopeOf } from '../model/reading/scope.ts';
import { requireWithinBytes, withinBytes } from './page-bytes.ts';
import { readPage } from './read-page.ts';

type Params = ParamsOf<typeof messageReadingOperations.getMessages>;
const maxPage = 5_000;

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
      const given = parseNarrow(params.narrow);
      const terms = actor ? given : await spectatorTerms(reading, meta, given);
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
      const viewer = { realmId: meta.realmId, userId: actor?.userId ?? 0, botOwnerId: actor?.botOwnerId, policy };
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
      const policy = await reading.policies.get(meta, !actor);
      const { content } = actor
        ? await reading.messages.readable(database, actor, meta, params.message_id)
        : await webPublic(readerOf(owner, reading, actor, meta), policy, params.message_id);
      const viewer = { realmId: meta.realmId, userId: actor?.userId ?? 0, botOwnerId: actor?.botOwnerId, policy };
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
    anchor,
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
  if (params.anchor !== undefined || params.num_before || params.num_after || params.use_first_unread_anchor) {
    const parameters = 'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor';
    throw new ChatError('INCOMPATIBLE_PARAMETERS', `Unsupported parameter combination: ${parameters}`, { parameters });
  }
  if (ids.length > maxPage) throw badRequest(`Too many messages requested (maximum ${maxPage}).`);
  return pageOfIds(await selectAmong(reader.executor, scope, ids));
}

/**
 * Without authentication only web-public messages can be read, and only if the narrow asks for those and does not depend
 * on a reader. `in:home` is dropped, because a spectator mutes nothing.
 */
async function spectatorTerms({ policies }: Reading, meta: RequestMeta, given: readonly Term[]): Promise<Term[]> {
  const policy = await policies.get(meta, true);
  const terms = given.filter((term) => term.negated || term.operator !== 'in' || term.operand !== 'home');
  const isOpen = terms.some((term) => term.operator === 'channels' && term.operand === 'web-public' && !term.negated);
  if (!policy.settings.enable_spectator_access || !isOpen || terms.some(isPersonal)) throw notLoggedIn();
  return terms;
}

const isPersonal = (term: Term): boolean =>
  term.operator === 'in' || isOfDirectMessages(term) || (term.operator === 'is' && term.operand !== 'resolved');

/** A message that can be read without authentication. Any other is answered like one that does not exist. */
async function webPublic(reader: Reader, policy: RealmPolicy, messageId: number): Promise<{ content: string }> {
  if (!policy.settings.enable_spectator_access) throw notLoggedIn();
  const message = await reader.executor.maybeOne(sql.type(z.object({ content: z.string() }))`
    SELECT m.content FROM messaging.message m
    WHERE m.realm_id = ${reader.meta.realmId} AND m.id = ${messageId} AND ${accessible(await reader.readable(), undefined)}`);
  if (!message) throw notLoggedIn();
  return message;
}
