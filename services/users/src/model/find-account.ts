import { badRequest, type ChatError } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { type AccountRow, accountColumns, accountRow, canSeeEmail, nominalEmail, type Viewer } from './account-row.ts';

export const noSuchUser = (): ChatError => badRequest('No such user');

/** By id, by the address visible to all, or by the real one if the viewer may see it. */
export async function findAccount(
  executor: Executor,
  realmId: number,
  idOrEmail: string,
  { viewer, lock = sql.fragment`` }: { viewer: Viewer; lock?: ReturnType<typeof sql.fragment> },
): Promise<AccountRow> {
  const isId = /^\d{1,9}$/.test(idOrEmail);
  const which = isId
    ? sql.fragment`account.id = ${Number(idOrEmail)}`
    : sql.fragment`(lower(account.email) = lower(${idOrEmail}) OR (lower(${nominalEmail}) = lower(${idOrEmail}) AND account.id = ${idInEmail(idOrEmail)}))`;
  const rows = await executor.any(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account WHERE account.realm_id = ${realmId} AND ${which} ORDER BY account.id ${lock}`);
  const given = idOrEmail.toLowerCase();
  const fits = (row: AccountRow): boolean =>
    isId || given !== row.email.toLowerCase() || given === row.api_email.toLowerCase() || canSeeEmail(row, viewer);
  const row = rows.find(fits);
  if (!row) throw noSuchUser();
  return row;
}

export const idInEmail = (email: string): number => Number(/^user(\d{1,9})@/i.exec(email)?.[1] ?? 0);

/** Locked until this unit ends. */
export async function lockAccount(work: Work, userId: number): Promise<AccountRow | undefined> {
  return work.maybeOne(sql.type(accountRow)`
    SELECT ${accountColumns} FROM users.account
    WHERE account.realm_id = ${work.realmId} AND account.id = ${userId} AND NOT account.is_system_bot FOR NO KEY UPDATE OF account`);
}

export const readAccount = (executor: Executor, realmId: number, userId: number): Promise<AccountRow> =>
  executor.one(
    sql.type(
      accountRow,
    )`SELECT ${accountColumns} FROM users.account WHERE account.realm_id = ${realmId} AND account.id = ${userId}`,
  );
