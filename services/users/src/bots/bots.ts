import { badRequest, botOperations, insufficientPermission, keysOf, partOf, roles } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import {
  type Bus,
  type Handlers,
  handle,
  handleStored,
  handleWrite,
  type Owner,
  type UserContext,
} from '@natter/service-kit';
import { avatarUrl } from '../model/account-row.ts';
import { announceBotChange, revealBot } from '../model/announce-bot.ts';
import { giveKey, noteReader } from '../model/bot-key.ts';
import { requireRank } from '../model/bot-rank.ts';
import { type BotRow, botDefaults, everyBot, keyFor, ownedBy, readBots, servicesFor, toBot } from '../model/bot-row.ts';
import { changeOfGroups } from '../model/change.ts';
import { changeRole } from '../model/change-role.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import { deactivate } from '../model/deactivate.ts';
import { readAccount } from '../model/find-account.ts';
import { changeFullName, checkedFullName } from '../model/full-name.ts';
import { holderOf } from '../model/holder.ts';
import { checkedImage } from '../model/images/image.ts';
import { moveBot, requireVisibleOwner } from '../model/move-bot.ts';
import { lockRealm } from '../model/read-realm.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { giveBotAvatar } from '../model/store-avatar.ts';
import { hiddenFrom } from '../model/user-visibility.ts';
import { createBotHandlers } from './create-bot.ts';
import { requireAppliedRenames, withKnownChannels } from './known-channels.ts';
import { checkedWebhookAddress } from './webhook-address.ts';

export function botHandlers(owner: Owner, bus: Bus, seal: KeySeal): Handlers {
  const { database, catchUp } = owner;
  return [
    ...createBotHandlers(bus, seal),

    handle(botOperations.queueDefaults, async ({ meta }, { user_id }) => {
      // The queue keeps the name of the channel, which may just have changed.
      await catchUp(meta.realmId);
      const [bot] = await readBots(database, meta.realmId, sql.fragment`account.id = ${user_id}`);
      return {
        default_events_register_stream: bot?.default_events_register_stream ?? null,
        default_all_public_streams: bot?.default_all_public_streams ?? false,
      };
    }),

    handle(botOperations.reveal, async ({ meta, actor }, { id, fields }) => {
      // Gateways of the previous release send no actor: nothing is revealed to them.
      if (!actor) return {};
      const [bot] = await readBots(database, meta.realmId, sql.fragment`account.id = ${id}`);
      if (!bot) return {};
      return revealBot(bot, actor, fields, seal);
    }),

    handle(botOperations.getBots, async ({ actor }) => {
      const rows = await readBots(
        database,
        actor.realmId,
        sql.fragment`${ownedBy(actor.userId)} AND account.is_active`,
      );
      return {
        bots: rows.map((row) => ({
          username: row.email,
          full_name: row.full_name,
          api_key: keyFor(actor, row, seal),
          avatar_url: avatarUrl(row),
          ...botDefaults(row),
        })),
      };
    }),

    handleWrite(botOperations.updateBot, async (context, { bot_id, ...given }) => {
      const params = await withKnownChannels(bus, context, given);
      const image = params.file === undefined ? undefined : checkedImage(params.file);
      return changeOfGroups(context, async (work, holder) => {
        const realm = await lockRealm(work);
        await requireAppliedRenames(work, params);
        const bot = await ownBot(work, context, bot_id);
        if (image) await giveBotAvatar(work, { realm, by: holder, botId: bot.id }, image);
        const name = params.full_name === undefined ? bot.full_name : checkedFullName(params.full_name);
        if (name !== bot.full_name) await changeFullName(work, realm, bot, name);
        if (params.bot_owner_id !== undefined) await requireVisibleOwner(work, holder, params.bot_owner_id);
        // The owner first: the role is checked against the bot's new owner.
        const moved = params.bot_owner_id === undefined ? bot : await moveBot(work, bot, params.bot_owner_id, seal);
        if (params.role !== undefined && params.role !== moved.role)
          await changeRole(work, holder, { row: moved, role: params.role }, seal);
        const service_payload_url = changedAddress(bot, moved.bot_owner_id, params.service_payload_url);
        await storeDefaults(work, await storedBot(work, bot.id), { ...params, service_payload_url });
        return answer(work, bot.id, params.bot_owner_id);
      });
    }),

    handleWrite(botOperations.deactivateBot, async (context, params) =>
      changeOfGroups(context, async (work) => {
        await lockRealm(work);
        const bot = await ownBot(work, context, params.bot_id);
        if (bot.is_active) await deactivate(work, bot, seal);
        return {};
      }),
    ),

    handle(botOperations.getBotApiKey, async (context, { bot_id }) => {
      const { realmId, userId } = context.actor;
      const own = await ownBot(database, context, bot_id);
      if (own.bot_owner_id === userId) return { api_key: seal.open(own.sealed_key) };
      // Recorded in the transaction that reads the key, under the lock of role changes; reverted if the reader is
      // deactivated meanwhile.
      const read = await owner.background(realmId, async (work) => {
        work.expectVersions(context.actor.basis);
        await lockRealm(work);
        const bot = await ownBot(work, context, bot_id);
        await work.run(noteReader(bot, userId));
        return bot;
      });
      return { api_key: seal.open(read.sealed_key) };
    }),

    handleStored(
      botOperations.regenerateBotApiKey,
      async (context, params) => {
        const api_key = createApiKey();
        const sealed_key = seal.seal(api_key);
        return context.write(async (work) => {
          await lockRealm(work);
          const bot = await ownBot(work, context, params.bot_id);
          await giveKey(work, bot, { api_key, sealed_key });
          await work.run(noteReader(bot, context.actor.userId));
          return { sealed_key };
        });
      },
      ({ sealed_key }) => ({ api_key: seal.open(sealed_key) }),
    ),
  ];
}

const noSuchBot = () => badRequest('No such bot');

/** The bot, if the caller is its owner or an administrator, and does not rank below it. */
async function ownBot(executor: Executor, { actor }: UserContext, botId: number): Promise<BotRow> {
  const [bot] = await readBots(
    executor,
    actor.realmId,
    sql.fragment`account.id = ${botId} AND NOT account.is_system_bot`,
  );
  if (!bot) throw noSuchBot();
  const holder = await holderOf(executor, actor.userId);
  if (holder.role > roles.administrator && (bot.bot_owner_id !== actor.userId || holder.isBot))
    throw (await hiddenFrom(executor, actor.realmId, holder)).has(botId) ? noSuchBot() : insufficientPermission();
  requireRank(holder, bot);
  return bot;
}

/**
 * The address of the endpoint in a request, if it changes the stored one. Some clients always send all values of the bot.
 * A bot that gets another owner loses its address, and the former owner must not set the next one.
 */
function changedAddress(bot: BotRow, ownerId: number | null, address: string | undefined): string | undefined {
  const [service] = bot.services;
  if (service && address === service.base_url) return undefined;
  if (service && address !== undefined && ownerId !== bot.bot_owner_id)
    throw badRequest('service_payload_url cannot be set by the request that changes the owner');
  return address;
}

type Params = Parameters<typeof storeDefaults>[2];

async function storeDefaults(
  work: Work,
  bot: BotRow,
  params: {
    default_sending_stream?: string | undefined;
    default_events_register_stream?: string | undefined;
    default_all_public_streams?: boolean | undefined;
    service_payload_url?: string | undefined;
    service_interface?: number | undefined;
  },
): Promise<void> {
  const after = {
    default_sending_stream:
      params.default_sending_stream === undefined ? bot.default_sending_stream : params.default_sending_stream || null,
    default_events_register_stream:
      params.default_events_register_stream === undefined
        ? bot.default_events_register_stream
        : params.default_events_register_stream || null,
    default_all_public_streams: params.default_all_public_streams ?? bot.default_all_public_streams,
    services: changedServices(bot, params),
  };
  const changed = keysOf(after).filter((key) => JSON.stringify(after[key]) !== JSON.stringify(bot[key]));
  if (changed.length === 0) return;
  await work.run(sql.unsafe`
    UPDATE users.bot SET default_sending_stream = ${after.default_sending_stream}, default_events_register_stream = ${after.default_events_register_stream},
      default_all_public_streams = ${after.default_all_public_streams}, services = ${JSON.stringify(after.services)}::jsonb WHERE user_id = ${bot.id}`);
  await announceBotChange(work, bot, partOf(after, changed));
}

function changedServices(bot: BotRow, params: Params): Record<string, unknown>[] {
  const { service_payload_url: url, service_interface } = params;
  if (url === undefined && service_interface === undefined) return bot.services;
  if (service_interface !== undefined && service_interface !== 1 && service_interface !== 2)
    throw badRequest('Invalid service_interface');
  if (url !== undefined) checkedWebhookAddress('service_payload_url', url);
  return bot.services.map((service) => ({
    ...service,
    ...(url === undefined ? {} : { base_url: url }),
    ...(service_interface === undefined ? {} : { interface: service_interface }),
  }));
}

async function storedBot(work: Work, botId: number): Promise<BotRow> {
  const [bot] = await readBots(work, work.realmId, sql.fragment`account.id = ${botId}`);
  if (!bot) throw noSuchBot();
  return bot;
}

async function answer(work: Work, botId: number, newOwner: number | undefined) {
  const bot = await storedBot(work, botId);
  const [service] = bot.services;
  return {
    full_name: bot.full_name,
    avatar_url: avatarUrl(bot),
    ...botDefaults(bot),
    ...(service ? { service_interface: Number(service.interface), service_payload_url: String(service.base_url) } : {}),
    ...(newOwner === undefined ? {} : { bot_owner: (await readAccount(work, work.realmId, newOwner)).api_email }),
  };
}

export const botsSnapshot = (seal: KeySeal): SnapshotPart => ({
  types: ['realm_bot'],
  read: async (executor, { realmId, viewer }) => {
    const isAdministrator = viewer.role <= roles.administrator;
    const rows = await readBots(executor, realmId, isAdministrator ? everyBot : ownedBy(viewer.userId));
    const seen = (row: BotRow) => ({ api_key: keyFor(viewer, row, seal), services: servicesFor(viewer, row) });
    return { realm_bots: rows.map((row) => toBot(row, seen(row))) };
  },
  spectators: { realm_bots: [] },
});
