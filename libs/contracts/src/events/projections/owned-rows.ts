/** The realm of a row of `accounts`. */
export const realm_id = 'a.realm_id';
/** The address visible to all users. */
export const email = `CASE WHEN coalesce((a.settings->>'email_address_visibility')::int, 1) = 1 THEN a.email
  ELSE 'user' || a.id || '@' || (SELECT r.host FROM users.realm r WHERE r.id = a.realm_id) END`;
export const avatarUrl = `CASE WHEN a.avatar_token IS NULL THEN '/avatar/' || a.id ELSE '/user_avatars/of/' || a.avatar_token END
  || '?version=' || a.avatar_version`;
export const accounts = 'users.account a';
/** Deactivated users are members of no group. */
export const members = `users.group_member m JOIN users.user_group g ON g.id = m.group_id
  JOIN users.account a ON a.id = m.user_id AND a.is_active`;
export const subgroups = 'users.group_subgroup s JOIN users.user_group g ON g.id = s.group_id';
export const memberColumns = { realm_id: 'g.realm_id', group_id: 'm.group_id', user_id: 'm.user_id' };
export const subgroupColumns = { realm_id: 'g.realm_id', group_id: 's.group_id', subgroup_id: 's.subgroup_id' };
