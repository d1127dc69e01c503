import type { Model } from '../state/model.ts';
import type { PermissionRule } from '../state/snapshot.ts';
import type { Group } from '../state/writing-snapshot.ts';
import { locale, t } from '../text/text.ts';

const systemNames: Record<string, string> = {
  'role:nobody': t('nobody'),
  'role:owners': t('owners'),
  'role:administrators': t('administrators'),
  'role:moderators': t('moderators'),
  'role:fullmembers': t('fullMembers'),
  'role:members': t('members'),
  'role:everyone': t('everybodyGuestsToo'),
  'role:internet': t('everybodyOnTheInternet'),
};
const systemOrder = Object.keys(systemNames);

export const groupName = ({ name, isSystem }: Pick<Group, 'name' | 'isSystem'>): string =>
  isSystem ? (systemNames[name] ?? name) : name;

const { compare } = new Intl.Collator(locale);

/** The groups that people made, by name. */
export const ownGroups = ({ writing }: Pick<Model, 'writing'>): Group[] =>
  [...writing.groups.values()].filter(({ isSystem }) => !isSystem).sort((a, b) => compare(a.name, b.name));

/** The groups that a permission may name: groups of roles first. */
export function groupsFor(model: Pick<Model, 'writing'>, rule: PermissionRule | undefined): Group[] {
  const allowed = rule?.allowed_system_groups ?? [];
  const isAllowed = ({ name }: Group): boolean => {
    if (allowed.length > 0) return allowed.includes(name);
    if (name === 'role:internet') return false;
    if (name === 'role:nobody') return rule?.allow_nobody_group !== false;
    return name !== 'role:everyone' || rule?.allow_everyone_group !== false;
  };
  const system = [...model.writing.groups.values()]
    .filter((group) => group.isSystem && isAllowed(group))
    .sort((a, b) => systemOrder.indexOf(a.name) - systemOrder.indexOf(b.name));
  return rule?.require_system_group ? system : [...system, ...ownGroups(model)];
}
