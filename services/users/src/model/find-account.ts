import { badRequest, type ChatError } from '@natter/contracts';
import { type Executor, sql, type Work } from '@natter/database';
import { z } from 'zod';
import { type AccountRow, accountColumns, accountRow, canSeeEmail, nominalEmail, type Viewer } from './account-row.ts';
import { lowerCase } from './credentials/guesses.ts';
import { noteOtherLock } from './lock-order.ts';

const namedRow = accountRow.extend({ is_nominal: z.boolean() });

export const noSuchUser = (): ChatError => badRequest('No such user');

/** By id, by the address visible to all, or by the real one if the viewer may see it. */
export async function findAccount(
  executor: Executor,
  realmId: number,
  idOrEmail: string,
  { viewer, lock = sql.fragment`` }: { viewer: Viewer; lock?: ReturnType<typeof sql.fragment> },
): Promise<AccountRow> {
  const isId = /^\d{1,9}$/.test(idOrEmail);
  const name = lowerCase(idOrEmail);
  const isNominal = sql.fragment`(account.id = ${idInEmail(name)} AND lower(${nominalEmail}) = ${name})`;
  const which = isId
    ? sql.fragment`account.id = ${Number(idOrEmail)}`
    : sql.fragment`(lower(account.email) = ${name} OR ${isNominal})`;
  const rows = await executor.any(sql.type(namedRow)`
    SELECT ${accountColumns}, ${isNominal} AS is_nominal FROM users.account
    WHERE account.realm_id = ${realmId} AND ${which} ORDER BY account.id ${lock}`);
  const found = rows.find((row) => isId || row.is_nominal || row.visibility === 1 || canSeeEmail(row, viewer));
  if (!found) throw noSuchUser();
  const { is_nominal: _, ...row } = found;
  return row;
}

export const idInEmail = (email: string): number => Number(/^user(\d{1,9})@/i.exec(email)?.[1] ?? 0);

/** Reads an account of this realm and locks it until the unit ends. */
export async function lockAccount(work: Work, userId: number): Promise<AccountRow | undefined> {
  noteOtherLock(work);
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
