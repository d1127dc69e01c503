import type { Tenant } from './tenant.ts';

/** Decides when `work` on behalf of a tenant begins. */
export type InTurn = <R>(tenant: Tenant, work: () => Promise<R>) => Promise<R>;
