-- Sessions of browsers are credentials beside the API keys, in one table: what ends all keys of an account ends its sessions too, also where a
-- process of the previous release does it. `expires_at` moves with each use, up to `ends_at`. Both are NULL for API keys, which do not expire.
ALTER TABLE users.api_key ADD COLUMN expires_at timestamptz, ADD COLUMN ends_at timestamptz;
CREATE INDEX api_key_expiry ON users.api_key (expires_at) WHERE expires_at IS NOT NULL;

-- As in 002h, but without expired sessions.
CREATE OR REPLACE FUNCTION users.actors(p_asked json)
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
    WHERE o.hash = decode(q.key_hash, 'hex') AND o.realm_id = q.realm_id AND (o.expires_at IS NULL OR o.expires_at > now()) LIMIT 1) k ON true
  CROSS JOIN LATERAL (SELECT o.* FROM users.account o
    WHERE o.id = CASE WHEN q.key_hash IS NULL THEN q.user_id ELSE k.user_id END AND o.realm_id = q.realm_id LIMIT 1) a
  CROSS JOIN LATERAL (SELECT o.host, o.is_deactivated FROM users.realm o WHERE o.id = q.realm_id LIMIT 1) r
  CROSS JOIN LATERAL (
    SELECT array_agg(w.version ORDER BY w.key = 'groups') AS versions FROM log.versions(a.realm_id, ARRAY['actor:' || a.id, 'groups']) w) v
  WHERE (q.user_id IS NULL OR a.id = q.user_id)
    AND (q.email IS NULL OR lower(a.email) = lower(q.email) OR lower('user' || a.id || '@' || r.host) = lower(q.email));
END $$;
