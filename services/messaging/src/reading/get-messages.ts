import {
  type Actor,
  badRequest,
  ChatError,
  messageReadingOperations,
  type ParamsOf,
  type RealmPolicy,
  type RequestMeta,
  unknownUser,
} from '@natter/contracts';
import { sql } from '@natter/database';
import {
  type Handlers,
  handle,
  handleOpen,
  JsonPieces,
  type Owner,
  type RealmPolicies,
  type Sight,
  toJson,
} from '@natter/service-kit';
import type { ChannelReach } from '../channel-reach.ts';
import type { MessageReach } from '../message-reach.ts';
import { channelCopies } from './channel-copy.ts';
import { messageObjects } from './message-object.ts';
import { parseNarrow, type Term } from './narrow.ts';
import { pageOf, select } from './page.ts';
import { requireWithinBytes, withinBytes } from './page-bytes.ts';
import { type Reader, scopeOf } from './scope.ts';

type Params = ParamsOf<typeof messageReadingOperations.getMessages>;
const maxPage = 5_000;
const sliceSize = 250;

export interface Reading {
  reach: ChannelReach;
  messages: MessageReach;
  policies: RealmPolicies;
  sight: Sight;
}

/** Who reads, over one consistent view of the tables. */
export async function readerOf(
  { database }: Owner,
  { reach, sight, policies }: Pick<Reading, 'reach' | 'sight' | 'policies'>,
  actor: Actor | undefined,
  meta: RequestMeta,
): Promise<Reader> {
  return {
    executor: database,
    meta,
    actor,
    reach,
    hidden: async () => (actor ? sight.hiddenFrom(actor, meta, await policies.get(meta, false)) : new Set()),
    channels: await channelCopies(database, meta.realmId, actor?.userId),
  };
}

export function getMessagesHandlers(owner: Owner, reading: Reading): Handlers {
  const { database } = owner;
  /** Whom the reader may not know of, and what stands for them. */
  const unknownOf = async (actor: Actor | undefined, meta: RequestMeta, policy: RealmPolicy) => {
    const ids = actor ? await reading.sight.hiddenFrom(actor, meta, policy) : [];
    return new Map([...ids].map((id) => [id, unknownUser(id, policy.host)]));
  };
  return [
    handleOpen(messageReadingOperations.getMessages, async ({ actor, meta }, params) => {
      const policy = await reading.policies.get(meta, false);
      const terms = parseNarrow(params.narrow);
      if (!actor) await refuseStrangers(reading, meta, terms);
      const reader = await readerOf(owner, reading, actor, meta);
      const scope = await scopeOf(reader, terms, params.message_ids);
      const sized = { applyMarkdown: params.apply_markdown, isSearch: scope.search !== undefined };
      const page = params.message_ids
        ? await byIds(reader, scope, params.message_ids, params)
        : await withinBytes(database, meta.realmId, await pageOf(reader, scope, wantedOf(params, terms)), sized);
      if (params.message_ids) await requireWithinBytes(database, meta.realmId, page.ids, sized);
      const shown = {
        renderer: owner.renderer,
        applyMarkdown: params.apply_markdown,
        clientGravatar: params.client_gravatar && actor !== undefined && { role: actor.role },
        allowEmptyTopic: params.allow_empty_topic_name,
        search: scope.search,
        unknown: await unknownOf(actor, meta, policy),
      };
      const messages = await inSlices(page.ids, (ids) =>
        messageObjects(database, meta.realmId, actor?.userId ?? 0, ids, reader.channels, policy, shown),
      );
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
      const channels = await channelCopies(database, meta.realmId);
      const [message] = await messageObjects(
        database,
        meta.realmId,
        actor.userId,
        [params.message_id],
        channels,
        policy,
        {
          renderer: owner.renderer,
          applyMarkdown: params.apply_markdown,
          clientGravatar: false,
          allowEmptyTopic: params.allow_empty_topic_name,
          unknown: await unknownOf(actor, meta, policy),
        },
      );
      if (!message) throw badRequest('Invalid message(s)');
      return { message, raw_content: content };
    }),

    handle(messageReadingOperations.matchNarrow, async ({ actor, meta }, { msg_ids, narrow }) => {
      const reader = await readerOf(owner, reading, actor, meta);
      const scope = await scopeOf(reader, parseNarrow(narrow), msg_ids);
      const ids = await select(
        database,
        scope,
        sql.fragment`m.id = ANY(${sql.array(msg_ids, 'int8')})`,
        'ASC',
        maxPage,
      );
      const isSearch = scope.search !== undefined;
      await requireWithinBytes(database, meta.realmId, ids, { applyMarkdown: true, isSearch });
      const policy = await reading.policies.get(meta, false);
      const shown = {
        renderer: owner.renderer,
        applyMarkdown: true,
        clientGravatar: false as const,
        allowEmptyTopic: true,
        search: scope.search,
      };
      const messages = await messageObjects(database, meta.realmId, actor.userId, ids, reader.channels, policy, shown);
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

/** The list of what `read` gives for all ids. A large page is read and written in slices, and other requests are served between them. */
async function inSlices(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly object[]>,
): Promise<JsonPieces> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < ids.length; at += sliceSize) {
    const text = (await read(ids.slice(at, at + sliceSize))).map((object) => JSON.stringify(object)).join(',');
    if (text !== '') pieces.push(Buffer.from(`${pieces.length === 0 ? '' : ','}${text}`));
  }
  return new JsonPieces([Buffer.from('['), ...pieces, Buffer.from(']')]);
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

const missingArgument = (name: string): ChatError =>
  new ChatError('REQUEST_VARIABLE_MISSING', `Missing '${name}' argument`, { var_name: name });

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
  const found = await select(
    reader.executor,
    scope,
    sql.fragment`m.id = ANY(${sql.array([...ids], 'int8')})`,
    'ASC',
    maxPage,
  );
  return { anchor: 0, ids: found, before: 0, foundAnchor: false, foundOldest: false, foundNewest: false };
}

/** Without authentication only what is open to the web is read, and only when asked for as such. */
async function refuseStrangers({ policies }: Reading, meta: RequestMeta, terms: readonly Term[]): Promise<void> {
  const unauthorized = new ChatError('UNAUTHORIZED', 'Not logged in: API authentication or user session required');
  const policy = await policies.get(meta, true);
  const isOpen = terms.some(
    (term) =>
      (term.operator === 'channels' && term.operand === 'web-public' && !term.negated) ||
      (term.operator === 'channel' && !term.negated),
  );
  if (!policy.settings.enable_spectator_access || !isOpen) throw unauthorized;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
