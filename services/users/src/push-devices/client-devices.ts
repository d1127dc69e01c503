import { badRequest, collectionOperations, type ParamsOf, totals } from '@natter/contracts';
import { type Executor, requireRoom, sql, type Work } from '@natter/database';
import { type Handlers, handleWrite } from '@natter/service-kit';
import { z } from 'zod';
import { toSelf } from '../model/change.ts';
import { lockAccount } from '../model/find-account.ts';
import type { SnapshotPart } from '../model/snapshot-part.ts';
import { isBase64 } from './base64.ts';

type Registration = ParamsOf<typeof collectionOperations.registerPushDevice>;

const deviceRow = z.object({ id: z.number(), push_key_id: z.number().nullable(), token_id: z.string().nullable() });

/** Installations of clients, each identified by an id. */
export const clientDeviceHandlers = (): Handlers => [
  handleWrite(collectionOperations.registerClientDevice, async (context) => {
    const { userId } = context.actor;
    return context.write(async (work) => {
      await lockAccount(work, userId);
      const { id } = await work.one(sql.type(z.object({ id: z.number() }))`
        INSERT INTO users.client_device (user_id) VALUES (${userId}) RETURNING id`);
      await requireRoom(work, totals.clientDevices, sql.fragment`users.client_device WHERE user_id = ${userId}`);
      work.emit(toSelf(userId, 'device/add', { device_id: id }));
      return { device_id: id };
    });
  }),

  handleWrite(collectionOperations.removeClientDevice, async (context, params) => {
    const { userId } = context.actor;
    return context.write(async (work) => {
      const removed = await work.run(
        sql.unsafe`DELETE FROM users.client_device WHERE user_id = ${userId} AND id = ${params.device_id}`,
      );
      if (removed === 0) throw noSuchDevice();
      work.emit(toSelf(userId, 'device/remove', params));
      return {};
    });
  }),
];

/** Stores the given key, the token, or both. The token stays pending, because nothing is sent. */
export async function registerDevice(work: Work, userId: number, deviceId: number, given: Registration) {
  const key = complete(given, ['push_key_id', 'push_key']);
  const token = complete(given, ['token_kind', 'token_id', 'bouncer_public_key', 'encrypted_push_registration']);
  if (!key && !token) throw badRequest('Client did not pass any new values.');
  for (const name of ['push_key', 'bouncer_public_key', 'encrypted_push_registration'] as const)
    if (given[name] !== undefined && !isBase64(given[name])) throw badRequest(`Invalid ${name}`);
  const updated = await work.run(sql.unsafe`
    UPDATE users.client_device SET push_key_id = coalesce(${given.push_key_id ?? null}, push_key_id), push_key = coalesce(${given.push_key ?? null}, push_key),
      token_kind = coalesce(${given.token_kind ?? null}, token_kind), token_id = coalesce(${given.token_id ?? null}, token_id),
      bouncer_public_key = coalesce(${given.bouncer_public_key ?? null}, bouncer_public_key),
      registration = coalesce(${given.encrypted_push_registration ?? null}, registration)
    WHERE user_id = ${userId} AND id = ${deviceId}`);
  if (updated === 0) throw noSuchDevice();
  work.emit(
    toSelf(userId, 'device/update', {
      device_id: deviceId,
      ...(key ? { push_key_id: given.push_key_id } : {}),
      ...(token ? { pending_push_token_id: given.token_id } : {}),
    }),
  );
  return {};
}

/** Whether all of these were given; refuses a part of them. */
function complete(given: Registration, names: readonly (keyof Registration)[]): boolean {
  const missing = names.filter((name) => given[name] === undefined);
  if (missing.length > 0 && missing.length < names.length)
    throw badRequest(`Missing parameters: ${missing.join(', ')}`);
  return missing.length === 0;
}

const noSuchDevice = () => badRequest('Invalid device_id');

const readDevices = (executor: Executor, userId: number) =>
  executor.any(sql.type(deviceRow)`
    SELECT id, push_key_id, token_id FROM users.client_device WHERE user_id = ${userId} ORDER BY id`);

export const clientDevicesSnapshot: SnapshotPart = {
  types: ['device'],
  read: async (executor, { viewer }) => {
    const rows = await readDevices(executor, viewer.userId);
    const devices = rows.map(({ id, push_key_id, token_id }) => [
      id,
      {
        ...(push_key_id === null ? {} : { push_key_id }),
        ...(token_id === null ? {} : { pending_push_token_id: token_id }),
      },
    ]);
    return { devices: Object.fromEntries(devices) };
  },
  spectators: { devices: {} },
};
