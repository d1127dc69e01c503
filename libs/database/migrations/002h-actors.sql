-- Ids of all groups a user is in, directly or through subgroups. Deactivated groups contribute nothing. OFFSET 0 keeps each step to
-- descents of an index: the planner expects so many groups to be reached that it would read all subgroups of all realms.
CREATE FUNCTION users.group_ids(p_user int) RETURNS int[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE reached (id) AS (
      SELECT m.group_id FROM users.group_member m JOIN users.user_group g ON g.id = m.group_id
        WHERE m.user_id = p_user AND NOT g.is_deactivated
      UNION
      SELECT s.group_id FROM reached x CROSS JOIN LATERAL (
        SELECT o.group_id FROM users.group_subgroup o JOIN users.user_group g ON g.id = o.group_id
          WHERE o.subgroup_id = x.id AND NOT g.is_deactivated OFFSET 0) s
    ) SELECT x.id FROM reached x ORDER BY x.id);
END $$;

-- Who many callers are, at once: a list of {realm_id, and key_hash (hex) with or without email or user_id, or user_id alone}. One row for
-- each that is known. A function, because its plan is then made once per connection and not once per call; stable, so that what it reads
-- and the versions of that are of one moment. Each look-up is kept to a descent of an index by its LIMIT.
CREATE FUNCTION users.actors(p_asked json)
RETURNS TABLE (ordinal bigint, id int, email text, role int, is_active boolean, is_bot boolean, is_system_bot boolean, is_write_only boolean, realm_ended boolean,
  group_ids int[], actor_version int, groups_version int)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  -- The address that everybody knows: what is told in the name of an actor shows nobody their real one.
  SELECT q.ordinality, a.id,
    CASE WHEN coalesce((a.settings->>'email_address_visibility')::int, 1) = 1 THEN a.email ELSE 'user' || a.id || '@' || r.host END, a.role::int, a.is_active, a.is_bot, a.is_system_bot, coalesce(a.bot_type = 2, false), r.is_deactivated,
    users.group_ids(a.id), v.versions[1], v.versions[2]
  FROM ROWS FROM (json_to_recordset(p_asked) AS (realm_id int, key_hash text, email text, user_id int)) WITH ORDINALITY q
  LEFT JOIN LATERAL (SELECT o.user_id FROM users.api_key o
    WHERE o.hash = decode(q.key_hash, 'hex') AND o.realm_id = q.realm_id LIMIT 1) k ON true
  CROSS JOIN LATERAL (SELECT o.* FROM users.account o
    WHERE o.id = CASE WHEN q.key_hash IS NULL THEN q.user_id ELSE k.user_id END AND o.realm_id = q.realm_id LIMIT 1) a
  CROSS JOIN LATERAL (SELECT o.host, o.is_deactivated FROM users.realm o WHERE o.id = q.realm_id LIMIT 1) r
  CROSS JOIN LATERAL (
    SELECT array_agg(w.version ORDER BY w.key = 'groups') AS versions FROM log.versions(a.realm_id, ARRAY['actor:' || a.id, 'groups']) w) v
  WHERE (q.user_id IS NULL OR a.id = q.user_id)
    AND (q.email IS NULL OR lower(a.email) = lower(q.email) OR lower('user' || a.id || '@' || r.host) = lower(q.email));
END $$;
