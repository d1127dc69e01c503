import { type GroupSetting, roles, type SystemGroupName, systemGroupNames } from '@natter/contracts';
import type { Holder } from '@natter/permissions';

export const notificationSettings = [
  'desktop_notifications',
  'email_notifications',
  'push_notifications',
  'audible_notifications',
  'wildcard_mentions_notify',
] as const;
export type NotificationSetting = (typeof notificationSettings)[number];
type Notifications = Partial<Record<NotificationSetting, boolean>>;

export interface Person {
  userId: number;
  /** The address visible to all users. A hidden real address does not identify a user here. */
  email: string;
  role: number;
  isActive: boolean;
  isBot: boolean;
  botOwnerId: number | null;
  /** The user's own settings, for channels without a value; a missing setting has the product's default. */
  notifications: Notifications;
}

export interface Group {
  id: number;
  name: string;
  isSystem: boolean;
  isActive: boolean;
  members: Set<number>;
  subgroups: Set<number>;
}

/**
 * Users and groups of one realm from this service's own tables, in memory. Includes deactivated users: their access is
 * unchanged, but they are not listed as subscribers.
 */
export class Directory {
  stamp: string;
  readonly people = new Map<number, Person>();
  readonly groups = new Map<number, Group>();
  private closures = new Map<number, ReadonlySet<number>>();
  private holders = new Map<number, Holder>();
  private byEmail: Map<string, Person> | undefined;

  constructor(stamp: string) {
    this.stamp = stamp;
  }

  /** Must be called after every change of groups except `addMembers`. */
  groupsChanged(): void {
    this.closures = new Map();
    this.holders = new Map();
  }

  setPerson(person: Person): void {
    this.people.set(person.userId, person);
    this.holders.delete(person.userId);
    this.byEmail = undefined;
  }

  /** The group and all groups that contain it. */
  withSupergroups(groupId: number): number[] {
    const reached = [groupId];
    for (const id of reached)
      for (const group of this.groups.values())
        if (group.subgroups.has(id) && !reached.includes(group.id)) reached.push(group.id);
    return reached;
  }

  /**
   * Adds direct members, and returns the new effective members of the group and of those that contain it. The cost
   * depends on the added users only.
   */
  addMembers(group: Group, userIds: readonly number[]): Map<number, number[]> {
    const gained = new Map<number, number[]>();
    const closures = this.withSupergroups(group.id).map((id) => [id, this.membersOf(id) as Set<number>] as const);
    for (const userId of userIds) {
      group.members.add(userId);
      this.holders.delete(userId);
    }
    // A deactivated group passes no members on; then the groups above it are recomputed.
    if ([...closures].some(([id]) => !this.groups.get(id)?.isActive)) {
      this.groupsChanged();
      for (const [id, before] of closures)
        gained.set(
          id,
          [...this.membersOf(id)].filter((member) => !before.has(member)),
        );
      return gained;
    }
    for (const [id, closure] of closures) {
      gained.set(
        id,
        userIds.filter((userId) => !closure.has(userId)),
      );
      for (const userId of userIds) closure.add(userId);
    }
    return gained;
  }

  isActive(userId: number): boolean {
    return this.people.get(userId)?.isActive ?? false;
  }

  personByEmail(email: string): Person | undefined {
    if (!this.byEmail) {
      this.byEmail = new Map();
      for (const person of this.people.values()) this.byEmail.set(person.email.toLowerCase(), person);
    }
    return this.byEmail.get(email.toLowerCase());
  }

  systemGroup(name: SystemGroupName): number | undefined {
    for (const group of this.groups.values()) if (group.isSystem && group.name === name) return group.id;
    return undefined;
  }

  /** All members of a group, directly and through subgroups. A deactivated group has none. */
  membersOf(groupId: number): ReadonlySet<number> {
    const known = this.closures.get(groupId);
    if (known) return known;
    const members = new Set<number>();
    const seen = new Set<number>();
    const visit = (id: number): void => {
      const group = this.groups.get(id);
      if (!group?.isActive || seen.has(id)) return;
      seen.add(id);
      for (const member of group.members) members.add(member);
      for (const subgroup of group.subgroups) visit(subgroup);
    };
    visit(groupId);
    this.closures.set(groupId, members);
    return members;
  }

  /** A user's role and groups for permission checks; undefined for a user who is not replicated yet. */
  holder(userId: number): Holder | undefined {
    const known = this.holders.get(userId);
    if (known) return known;
    const person = this.people.get(userId);
    if (!person) return undefined;
    const groupIds = [...this.groups.keys()].filter((id) => this.membersOf(id).has(userId));
    const holder = { userId, role: person.role, groupIds };
    this.holders.set(userId, holder);
    return holder;
  }

  /** All users in a group-setting value. */
  holdersOf(value: GroupSetting): Set<number> {
    if (typeof value === 'number') return new Set(this.membersOf(value));
    const held = new Set(value.direct_members);
    for (const group of value.direct_subgroups) for (const member of this.membersOf(group)) held.add(member);
    return held;
  }

  private idsWhere(fits: (person: Person) => boolean): number[] {
    const ids: number[] = [];
    for (const person of this.people.values()) if (fits(person)) ids.push(person.userId);
    return ids;
  }

  everybody = (): number[] => this.idsWhere(() => true);
  nonGuests = (): number[] => this.idsWhere(({ role }) => role !== roles.guest);
  administrators = (): number[] => this.idsWhere(({ role }) => role <= roles.administrator);
}

/** A directory may not contain system groups yet. */
export function systemGroupsOf(directory: Directory): Partial<Record<SystemGroupName, number>> {
  const ids = systemGroupNames.map((name) => [name, directory.systemGroup(name)] as const);
  return Object.fromEntries(ids.filter(([, id]) => id !== undefined));
}

const productDefaults: Record<NotificationSetting, boolean> = {
  desktop_notifications: false,
  email_notifications: false,
  push_notifications: false,
  audible_notifications: false,
  wildcard_mentions_notify: true,
};

export const effectiveNotification = (person: Person | undefined, name: NotificationSetting): boolean =>
  person?.notifications[name] ?? productDefaults[name];
