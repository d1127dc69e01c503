-- Narrower versions, so that unrelated changes do not get into each other's way (ADR 18).

-- Whether a person is still in exactly these groups, directly or through subgroups, in a realm that is not deactivated. `p_hash`: of
-- the ascending ids, as the users service computes it.
CREATE FUNCTION users.closure_stands(p_user int, p_hash text) RETURNS boolean
LANGUAGE plpgsql STABLE COST 10000 SECURITY DEFINER SET search_path = users, pg_temp AS $$
BEGIN
  RETURN left(encode(sha256(convert_to(array_to_string(users.group_ids(p_user), ','), 'UTF8')), 'hex'), 16) = p_hash
    AND EXISTS (SELECT FROM account a JOIN realm r ON r.id = a.realm_id WHERE a.id = p_user AND NOT r.is_deactivated);
END $$;
REVOKE ALL ON FUNCTION users.closure_stands FROM PUBLIC;
GRANT USAGE ON SCHEMA users TO natter_log;
GRANT EXECUTE ON FUNCTION users.closure_stands TO natter_log;

-- The key that holds the version of a key of a basis: `closure:<user>:<hash>` follows `groups`.
CREATE FUNCTION log.version_key(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_key LIKE 'closure:%' THEN 'groups' ELSE p_key END
$$;
REVOKE ALL ON FUNCTION log.version_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.version_key TO natter_log;

CREATE OR REPLACE FUNCTION log.versions(p_realm int, p_keys text[]) RETURNS TABLE (key text, version int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k, coalesce(v.version, 0) FROM unnest(p_keys) k
  LEFT JOIN log.version v ON v.realm_id = p_realm AND v.key = log.version_key(k);
END $$;

-- As before. A basis `closure:<user>:<hash>` whose version has changed still holds while the person is in the same groups.
CREATE OR REPLACE FUNCTION log.append(p_realm int, p_basis jsonb, p_bumps text[], p_source text, p_events json)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE
  c log.clock;
  w log.writer;
  n int := json_array_length(p_events);
  stale text;
  foreign_name text;
  marks int[];
  at timestamptz;
BEGIN
  SELECT * INTO w FROM log.writer WHERE role = session_user;
  IF FOUND THEN
    IF p_source IS DISTINCT FROM w.source THEN
      RAISE EXCEPTION '% is not the source %', session_user, p_source USING ERRCODE = '42501';
    END IF;
    SELECT k INTO foreign_name FROM unnest(p_bumps) k WHERE NOT split_part(k, ':', 1) = ANY (w.bumps) LIMIT 1;
    IF FOUND THEN RAISE EXCEPTION '% does not bump %', session_user, foreign_name USING ERRCODE = '42501'; END IF;
  END IF;
  SELECT * INTO c FROM log.clock WHERE realm_id = p_realm FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'no clock for realm %', p_realm USING ERRCODE = 'NT404'; END IF;
  SELECT b.key INTO stale FROM jsonb_each_text(p_basis) b
    LEFT JOIN log.version v ON v.realm_id = p_realm AND v.key = log.version_key(b.key)
    WHERE coalesce(v.version, 0) <> b.value::int
      AND CASE WHEN b.key LIKE 'closure:%'
        THEN NOT users.closure_stands(split_part(b.key, ':', 2)::int, split_part(b.key, ':', 3)) ELSE true END
    LIMIT 1;
  IF FOUND THEN RAISE EXCEPTION 'basis changed: %', stale USING ERRCODE = 'NT409'; END IF;
  INSERT INTO log.version AS v (realm_id, key, version)
    SELECT DISTINCT p_realm, k, 1 FROM unnest(p_bumps) k
    ON CONFLICT (realm_id, key) DO UPDATE SET version = v.version + 1;
  at := greatest(clock_timestamp(), c.last_at);
  IF n > 0 THEN
    SELECT array_agg((random() * 2147483646)::int + 1) INTO marks FROM generate_series(1, n);
    WITH inserted AS (
      INSERT INTO log.event (realm_id, number, mark, previous_mark, source, type, event, created_at)
        SELECT p_realm, c.number + e.i, marks[e.i], CASE WHEN e.i = 1 THEN c.mark ELSE marks[e.i - 1] END,
          p_source, e.event->>'type', e.event, at
        FROM json_array_elements(p_events) WITH ORDINALITY e(event, i)
      RETURNING type)
    SELECT type INTO foreign_name FROM inserted WHERE w.role IS NOT NULL AND NOT type = ANY (w.appends) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION '% does not append events of type %', session_user, foreign_name USING ERRCODE = '42501';
    END IF;
    UPDATE log.clock SET number = c.number + n, mark = marks[n], last_at = at WHERE realm_id = p_realm;
  END IF;
  RETURN jsonb_build_object('first', c.number + 1, 'marks', to_jsonb(marks), 'previous_mark', c.mark,
    'at', extract(epoch FROM at) * 1000);
END $$;

-- `group-contents`: memberships, names and permissions of groups. `groups`: the nesting of groups, which decides rights.
UPDATE log.writer SET bumps = bumps || ARRAY['group-contents'] WHERE role = 'natter_users';

-- A request that decides for the second time holds the gate of the versions it rests on, shared. A unit that bumps them passes the gate at
-- the end of its transaction, under the clock, and never waits there. SQLSTATE NT409: the gate is held.
CREATE FUNCTION log.pass_gate(p_realm int, p_gate int) RETURNS void LANGUAGE plpgsql SET search_path = log, pg_temp AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(p_gate, p_realm) THEN
    RAISE EXCEPTION 'gate % is held', p_gate USING ERRCODE = 'NT409';
  END IF;
END $$;
REVOKE ALL ON FUNCTION log.pass_gate FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.pass_gate TO natter_users, natter_channels, natter_messaging, natter_event_queue, natter_presence;
