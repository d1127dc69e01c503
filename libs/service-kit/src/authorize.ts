import { type Actor, insufficientPermission, type Operation, type RealmPermission, refusalOf } from '@natter/contracts';

/** Whether a permission of the realm includes the actor, by the realm's settings at this version. */
export type Permits = (
  actor: Actor,
  permission: RealmPermission,
) => Promise<{ isPermitted: boolean; realmVersion?: number }>;

/**
 * Refuses an actor that the contract does not allow to call the operation. Returns the actor for the handler: if a
 * permission of the realm was checked, its expected versions include the realm's, so that the commit fails if the
 * permission changed meanwhile.
 */
export async function authorize(operation: Operation, actor: Actor, permits: Permits | undefined): Promise<Actor> {
  const refusal = refusalOf(operation, actor);
  if (refusal) throw refusal;
  if (operation.permission === undefined) return actor;
  if (!permits) throw new Error(`no permission check is configured that ${operation.name} needs`);
  const { isPermitted, realmVersion } = await permits(actor, operation.permission);
  if (!isPermitted) throw insufficientPermission();
  return realmVersion === undefined ? actor : { ...actor, basis: { ...actor.basis, realm: realmVersion } };
}
