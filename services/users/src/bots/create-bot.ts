import { badRequest, botOperations, botTypes, insufficientPermission, roles, totals } from '@natter/contracts';
import { requireRoom, sql, type Work } from '@natter/database';
import { type Bus, type Handlers, handleStored } from '@natter/service-kit';
import { z } from 'zod';
import { administratorsAnd } from '../model/announce-account.ts';
import { announceBot } from '../model/announce-bot.ts';
import { insertKey } from '../model/api-keys.ts';
import type { KeySeal } from '../model/credentials/key-seal.ts';
import { createApiKey } from '../model/credentials/passwords.ts';
import { requireFreeName } from '../model/free-name.ts';
import { checkedFullName, requireUniqueName } from '../model/full-name.ts';
import { holderOf, mayIn } from '../model/holder.ts';
import { checkedImage } from '../model/images/image.ts';
import { insertAccount } from '../model/insert-account.ts';
import { lockRealm } from '../model/read-realm.ts';
import { giveBotAvatar } from '../model/store-avatar.ts';
import { requireAppliedRenames, withKnownChannels } from './known-channels.ts';
import { checkedWebhookAddress } from './webhook-address.ts';

export function createBotHandlers(bus: Bus, seal: KeySeal): Handlers {
  return [
    handleStored(
      botOperations.createBot,
      async (context, params) => {
        const full_name = checkedFullName(params.full_name);
        const short_name = params.short_name.trim().replace(/-bot$/, '');
        if (!/^[A-Za-z0-9._-]{1,60}$/.test(short_name)) throw badRequest('Bad name or username');
        const services = checkedServices(params);
        const image = params.file === undefined ? undefined : checkedImage(params.file);
        const { default_sending_stream, default_events_register_stream } = await withKnownChannels(
          bus,
          context,
          params,
        );
        const api_key = createApiKey();
        const sealed_key = seal.seal(api_key);
        return context.write(async (work) => {
          const realm = await lockRealm(work);
          await requireAppliedRenames(work, { default_sending_stream, default_events_register_stream });
          const holder = await holderOf(work, context.actor.userId);
          const isWriteOnly = params.bot_type === botTypes.incomingWebhook;
          const mayCreate =
            mayIn(realm, 'can_create_bots_group', holder) ||
            (isWriteOnly && mayIn(realm, 'can_create_write_only_bots_group', holder));
          if (!mayCreate || holder.role === roles.guest) throw insufficientPermission();
          await requireFreeName(work, full_name);
          await requireUniqueName(work, realm, full_name);
          const email = `${short_name.toLowerCase()}-bot@${realm.host}`;
          await requireFreeAddress(work, email);
          const bot = await insertAccount(work, {
            email,
            full_name,
            role: roles.member,
            password_hash: null,
            is_bot: true,
            bot_type: params.bot_type,
            bot_owner_id: context.actor.userId,
          });
          // Bots that were moved to other owners count for their creator too. Otherwise, a user could create any number of bots
          // and use up the room of other owners.
          const created = sql.fragment`users.account WHERE is_bot AND coalesce(created_by, bot_owner_id) = ${context.actor.userId}`;
          await requireRoom(work, totals.bots, sql.fragment`${created} AND is_active`);
          await requireRoom(work, totals.botAccounts, created);
          await requireRoom(work, totals.botsPerDay, sql.fragment`${created} AND joined_at > now() - interval '1 day'`);
          await insertKey(work, { realmId: work.realmId, userId: bot.user_id }, api_key, 'bot');
          const defaults = {
            default_sending_stream: default_sending_stream || null,
            default_events_register_stream: default_events_register_stream || null,
            default_all_public_streams: params.default_all_public_streams ?? false,
          };
          await work.run(sql.unsafe`
          INSERT INTO users.bot (user_id, sealed_key, services, default_sending_stream, default_events_register_stream, default_all_public_streams)
          VALUES (${bot.user_id}, ${sealed_key}, ${JSON.stringify(services)}::jsonb, ${defaults.default_sending_stream},
            ${defaults.default_events_register_stream}, ${defaults.default_all_public_streams})`);
          await announceBot(work, bot.user_id, await administratorsAnd(work, context.actor.userId));
          const change = { realm, by: holder, botId: bot.user_id };
          const avatar_url = image ? await giveBotAvatar(work, change, image) : bot.avatar_url;
          return { user_id: bot.user_id, sealed_key, avatar_url: avatar_url ?? '', ...defaults };
        });
      },
      ({ sealed_key, ...made }) => ({ ...made, api_key: seal.open(sealed_key) }),
    ),
  ];
}

interface Given {
  bot_type: number;
  payload_url?: string | undefined;
  interface_type: number;
}

function checkedServices({ bot_type, payload_url, interface_type }: Given): Record<string, unknown>[] {
  if (bot_type === botTypes.embedded) throw badRequest('Embedded bots are not enabled.');
  if (!Object.values(botTypes).some((type) => type === bot_type)) throw badRequest('Invalid bot type');
  if (bot_type !== botTypes.outgoingWebhook) return [];
  const base_url = checkedWebhookAddress('payload_url', payload_url ?? '');
  if (interface_type !== 1 && interface_type !== 2) throw badRequest('Invalid interface type');
  return [{ base_url, interface: interface_type, token: createApiKey() }];
}

async function requireFreeAddress(work: Work, email: string): Promise<void> {
  const taken = await work.maybeOne(sql.type(z.object({ id: z.number() }))`
    SELECT id FROM users.account WHERE realm_id = ${work.realmId} AND lower(email) = lower(${email})`);
  if (taken) throw badRequest('Username already in use');
}
