import { type GroupSetting, roles, type SystemGroupName, systemGroupNames } from '@natter/contracts';
import type { Holder } from '@natter/permissions';
import { Numbers, UserSet } from './user-set.ts';

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

/** A bot of the server itself. All other bots have an owner, always. */
const isSystemBot = ({ isBot, botOwnerId }: Person): boolean => isBot && botOwnerId === null;

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
  /** Contains the deactivated users. A user who is not replicated yet may be active. */
  readonly inactive = { has: (userId: number): boolean => this.people.get(userId)?.isActive === false };
  private readonly numbers = new Numbers();
  private closures = new Map<number, UserSet>();
  private holders = new Map<number, Holder>();
  /** The groups that contain a group directly. */
  private parents: Map<number, number[]> | undefined;
  private byEmail: Map<string, Person> | undefined;

  constructor(stamp: string) {
    this.stamp = stamp;
  }

  /** Must be called after every change of groups except `addMembers`. */
  groupsChanged(): void {
    this.closures = new Map();
    this.holders = new Map();
    this.parents = undefined;
  }

  usersOf(userIds: Iterable<number> = []): UserSet {
    return new UserSet(this.numbers, userIds);
  }

  setPerson(person: Person): void {
    // All people are set in the order of their ids, so sets of them are listed in this order.
    this.numbers.of(person.userId);
    this.people.set(person.userId, person);
    this.holders.delete(person.userId);
    this.byEmail = undefined;
  }

  /** The group and all groups that contain it. */
  withSupergroups(groupId: number): number[] {
    // A set is iterated over items that are added meanwhile.
    const reached = new Set([groupId]);
    for (const id of reached) for (const parent of this.parentsOf(id)) reached.add(parent);
    return [...reached];
  }

  private parentsOf(groupId: number): readonly number[] {
    if (!this.parents) {
      this.parents = new Map();
      for (const { id, subgroups } of this.groups.values())
        for (const subgroup of subgroups) {
          const known = this.parents.get(subgroup);
          if (known) known.push(id);
          else this.parents.set(subgroup, [id]);
        }
    }
    return this.parents.get(groupId) ?? [];
  }

  /**
   * Adds direct members, and returns the new effective members of the group and of those that contain it. The cost
   * depends on the added users only.
   */
  addMembers(group: Group, userIds: readonly number[]): Map<number, UserSet> {
    const closures = this.withSupergroups(group.id).map((id) => [id, this.membersOf(id)] as const);
    for (const userId of userIds) {
      group.members.add(userId);
      this.holders.delete(userId);
    }
    // A deactivated group passes no members on; then the groups above it are recomputed.
    if ([...closures].some(([id]) => !this.groups.get(id)?.isActive)) {
      this.groupsChanged();
      return new Map(closures.map(([id, before]) => [id, this.membersOf(id).copy().deleteAll(before)]));
    }
    const added = this.usersOf(userIds);
    return new Map(
      closures.map(([id, closure]) => {
        const gained = added.copy().deleteAll(closure);
        closure.addAll(added);
        return [id, gained];
      }),
    );
  }

  /** Whether requests may subscribe the user, or name them in permissions. System bots are no users of the realm. */
  isNameable(userId: number): boolean {
    const person = this.people.get(userId);
    return person?.isActive === true && !isSystemBot(person);
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
  membersOf(groupId: number): UserSet {
    const known = this.closures.get(groupId);
    if (known) return known;
    // Not recursive: groups can contain each other in a chain of any length.
    const pending = [groupId];
    const opened = new Set<number>();
    for (let id = pending.at(-1); id !== undefined; id = pending.at(-1)) {
      const group = this.groups.get(id);
      if (group?.isActive && !this.closures.has(id) && !opened.has(id)) {
        opened.add(id);
        for (const subgroup of group.subgroups) if (!this.closures.has(subgroup)) pending.push(subgroup);
        continue;
      }
      pending.pop();
      if (!this.closures.has(id)) this.closures.set(id, this.closureOf(group));
    }
    return this.closures.get(groupId) ?? this.usersOf();
  }

  /** The closures of its subgroups are known. */
  private closureOf(group: Group | undefined): UserSet {
    if (!group?.isActive) return this.usersOf();
    const members = this.usersOf(group.members);
    for (const subgroup of group.subgroups) {
      const inner = this.closures.get(subgroup);
      if (inner) members.addAll(inner);
    }
    return members;
  }

  /** A user's role and groups for permission checks; undefined for a user who is not replicated yet. */
  holder(userId: number): Holder | undefined {
    const known = this.holders.get(userId);
    if (known) return known;
    const person = this.people.get(userId);
    if (!person) return undefined;
    const holder = { userId, role: person.role, groupIds: this.groupsOf(userId) };
    this.holders.set(userId, holder);
    return holder;
  }

  /** Searches from the user's direct groups to the groups that contain them, so other groups are not expanded. */
  private groupsOf(userId: number): number[] {
    const reached = new Set<number>();
    for (const group of this.groups.values()) if (group.isActive && group.members.has(userId)) reached.add(group.id);
    for (const id of reached)
      for (const parent of this.parentsOf(id)) if (this.groups.get(parent)?.isActive) reached.add(parent);
    return [...reached];
  }

  /** All users in a group-setting value. */
  holdersOf(value: GroupSetting): UserSet {
    if (typeof value === 'number') return this.membersOf(value);
    const held = this.usersOf(value.direct_members);
    for (const group of value.direct_subgroups) held.addAll(this.membersOf(group));
    return held;
  }

  private idsWhere(fits: (person: Person) => boolean): number[] {
    const ids: number[] = [];
    for (const person of this.people.values()) if (fits(person)) ids.push(person.userId);
    return ids;
  }

  systemBots = (): number[] => this.idsWhere(isSystemBot);
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
