import { realmDefaultNames, type UserSettingValues, userSettingDefaults, userSettingNames } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';

export type Values = Record<string, unknown>;

const stored = z.object({ settings: z.record(z.string(), z.unknown()) });
const initialRow = z.object({ defaults: z.record(z.string(), z.unknown()), language: z.string().nullable() });

/** All settings of a user; those that were never changed have their defaults. */
export async function readSettings(executor: Executor, userId: number): Promise<UserSettingValues> {
  const { settings } = await executor.one(sql.type(stored)`SELECT settings FROM users.account WHERE id = ${userId}`);
  return withDefaults(settings);
}

const names: ReadonlySet<string> = new Set(userSettingNames);
const withDefaults = (settings: Values): UserSettingValues => {
  const known = Object.entries(settings).filter(([name]) => names.has(name));
  return { ...userSettingDefaults, ...Object.fromEntries(known) };
};

/**
 * The initial settings of a new user. The realm's row is locked in shared mode, so that the announced settings are
 * current when they join.
 */
export async function initialSettings(work: Work): Promise<Values> {
  const { defaults, language } = await work.one(sql.type(initialRow)`
    SELECT user_defaults AS defaults, settings->>'default_language' AS language FROM users.realm WHERE id = ${work.realmId} FOR SHARE`);
  return { ...defaults, ...(language === null || language === 'en' ? {} : { default_language: language }) };
}

export async function readRealmDefaults(executor: Executor, realmId: number): Promise<Values> {
  const { defaults } = await executor.one(sql.type(initialRow.pick({ defaults: true }))`
    SELECT user_defaults AS defaults FROM users.realm WHERE id = ${realmId}`);
  return Object.fromEntries(realmDefaultNames.map((name) => [name, defaults[name] ?? userSettingDefaults[name]]));
}
