import { badRequest, ChatError, collectionOperations, missingArgument, totals } from '@natter/contracts';
import { requireRoom, sql } from '@natter/database';
import { type Handlers, handleWrite, type Owner, type WriteContext } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { isBase64 } from './base64.ts';
import { registerDevice } from './client-devices.ts';

type Kind = 'apns' | 'fcm';
const maxToken = 4096;
const existsRow = z.object({ found: z.boolean() });

export function pushDeviceHandlers(owner: Owner): Handlers {
  const add = async (context: WriteContext, kind: Kind, params: { token: string; appid?: string | undefined }) => {
    const { userId } = context.actor;
    checkToken(kind, params.token);
    if (kind === 'apns' && !/^[.a-zA-Z0-9-]+$/.test(params.appid ?? '')) throw badRequest('Invalid app ID');
    return context.write(async (work) => {
      await work.run(sql.unsafe`
        INSERT INTO users.device_token (user_id, kind, token, app_id) VALUES (${userId}, ${kind}, ${params.token}, ${params.appid ?? null})
        ON CONFLICT (user_id, kind, token) DO UPDATE SET app_id = excluded.app_id`);
      await requireRoom(work, totals.deviceTokens, sql.fragment`users.device_token WHERE user_id = ${userId}`);
      return {};
    });
  };
  const remove = async (context: WriteContext, kind: Kind, token: string) => {
    checkToken(kind, token);
    return context.write(async (work) => {
      const removed = await work.run(sql.unsafe`
        DELETE FROM users.device_token WHERE user_id = ${context.actor.userId} AND kind = ${kind} AND token = ${token}`);
      if (removed === 0) throw badRequest('Token does not exist');
      return {};
    });
  };
  return [
    handleWrite(collectionOperations.addApnsDeviceToken, (context, params) => add(context, 'apns', params)),
    handleWrite(collectionOperations.addIosDeviceToken, (context, params) => add(context, 'apns', params)),
    handleWrite(collectionOperations.addAndroidGcmRegId, (context, params) => add(context, 'fcm', params)),
    handleWrite(collectionOperations.addAndroidDeviceToken, (context, params) => add(context, 'fcm', params)),
    handleWrite(collectionOperations.removeApnsDeviceToken, (context, { token }) => remove(context, 'apns', token)),
    handleWrite(collectionOperations.removeIosDeviceToken, (context, { token }) => remove(context, 'apns', token)),
    handleWrite(collectionOperations.removeAndroidGcmRegId, (context, { token }) => remove(context, 'fcm', token)),
    handleWrite(collectionOperations.removeAndroidDeviceToken, (context, { token }) => remove(context, 'fcm', token)),

    handleWrite(collectionOperations.registerPushDevice, async (context, params) => {
      const { userId } = context.actor;
      const { device_id } = params;
      if (device_id !== undefined) return context.write((work) => registerDevice(work, userId, device_id, params));
      const push_account_id = given('push_account_id', params.push_account_id);
      const kind = given('token_kind', params.token_kind);
      const publicKey = inBase64('push_public_key', params.push_public_key);
      const bouncerKey = inBase64('bouncer_public_key', params.bouncer_public_key);
      const registration = inBase64('encrypted_push_registration', params.encrypted_push_registration);
      return context.write(async (work) => {
        const registered = await work.run(sql.unsafe`
          INSERT INTO users.push_device (user_id, push_account_id, kind, public_key, bouncer_public_key, registration)
          VALUES (${userId}, ${push_account_id}, ${kind}, ${publicKey}, ${bouncerKey}, ${registration}) ON CONFLICT DO NOTHING`);
        await requireRoom(work, totals.pushDevices, sql.fragment`users.push_device WHERE user_id = ${userId}`);
        if (registered > 0) work.emit(toSelf(userId, 'push_device', { push_account_id, status: 'pending' }));
        return {};
      });
    }),

    handleWrite(collectionOperations.testPush, async (context, { token }) => {
      const which = token === undefined ? sql.fragment`` : sql.fragment`AND token = ${token}`;
      const { found } = await owner.database.one(sql.type(existsRow)`
        SELECT EXISTS (SELECT FROM users.device_token WHERE user_id = ${context.actor.userId} ${which}) AS found`);
      if (!found && token !== undefined) throw new ChatError('INVALID_PUSH_DEVICE_TOKEN', 'Device not recognized');
      throw notSent(found);
    }),

    handleWrite(collectionOperations.testEncryptedPush, async (context, { push_account_id }) => {
      const which =
        push_account_id === undefined ? sql.fragment`` : sql.fragment`AND push_account_id = ${push_account_id}`;
      const { found } = await owner.database.one(sql.type(existsRow)`
        SELECT EXISTS (SELECT FROM users.push_device WHERE user_id = ${context.actor.userId} ${which}) AS found`);
      if (!found && push_account_id !== undefined)
        throw new ChatError('INVALID_PUSH_DEVICE_TOKEN', 'Device not recognized');
      throw notSent(found);
    }),
  ];
}

/** Tokens are stored for a future sender of push notifications; this server sends none. */
const notSent = (isKnown: boolean): ChatError =>
  badRequest(isKnown ? 'Push notifications are not set up on this server.' : 'User has no registered device.');

function checkToken(kind: Kind, token: string): void {
  if (token === '' || token.length > maxToken) throw badRequest('Empty or invalid length token');
  if (kind === 'apns' && !isApnsToken(token)) throw badRequest('Invalid APNS token');
}

/** Hex digits, or base64 in either alphabet; like older servers, ignores hyphens that only separate groups. */
const isApnsToken = (token: string): boolean =>
  /^(?:[0-9a-f]{2})+$/i.test(token) ||
  isBase64(token.replaceAll('-', '+').replaceAll('_', '/')) ||
  isBase64(token.replaceAll(/[-_]/g, ''));

function given<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw missingArgument(name);
  return value;
}

function inBase64(name: string, value: string | undefined): string {
  const text = given(name, value);
  if (!isBase64(text)) throw badRequest(`Invalid ${name}`);
  return text;
}

export const pushDevicesSnapshot: SnapshotPart = {
  types: ['push_device'],
  read: async (executor, { viewer }) => {
    const rows = await executor.any(sql.type(z.object({ push_account_id: z.number(), status: z.string() }))`
      SELECT push_account_id, status FROM users.push_device WHERE user_id = ${viewer.userId} ORDER BY push_account_id`);
    return {
      push_devices: Object.fromEntries(rows.map(({ push_account_id, status }) => [push_account_id, { status }])),
    };
  },
  spectators: { push_devices: {} },
};
