-- What each service may do with the log: which types of events it appends and reads, which versions it bumps, and the key by
-- which gateways know its entries. The lists repeat `events/owners.ts` of the contracts; a test compares them.
CREATE TABLE log.writer (
  role name PRIMARY KEY,
  source text NOT NULL,
  appends text[] NOT NULL,
  reads text[] NOT NULL,
  bumps text[] NOT NULL,
  -- 32 random bytes: two UUIDs of 122 random bits each, hashed.
  key bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);

INSERT INTO log.writer (role, source, appends, reads, bumps) VALUES
  ('natter_users', 'users',
    ARRAY['tick', 'realm', 'realm_user', 'realm_bot', 'credentials_changed', 'user_group', 'user_settings', 'realm_user_settings_defaults', 'muted_users', 'alert_words', 'realm_linkifiers', 'realm_emoji', 'update_display_settings', 'update_global_notifications', 'user_status', 'realm_domains', 'realm_filters', 'realm_playgrounds', 'realm_billing', 'realm_export', 'realm_export_consent', 'custom_profile_fields', 'invites_changed', 'has_zoom_token', 'push_device', 'device', 'saved_snippets', 'navigation_view', 'onboarding_steps', 'restart', 'web_reload_client'],
    ARRAY['stream', 'subscription', 'acquainted'],
    ARRAY['actor', 'groups', 'realm']),
  ('natter_channels', 'channels',
    ARRAY['tick', 'stream', 'subscription', 'default_streams', 'default_stream_groups', 'channel_folder'],
    ARRAY['realm_user', 'user_group', 'user_settings', 'realm_user_settings_defaults', 'message', 'update_message', 'channel_begins'],
    ARRAY['channel', 'group-uses']),
  ('natter_messaging', 'messaging',
    ARRAY['tick', 'message', 'update_message', 'channel_begins', 'acquainted', 'mutes_ended', 'attachments_referenced', 'delete_message', 'update_message_flags', 'reaction', 'submessage', 'typing', 'typing_edit_message', 'user_topic', 'muted_topics', 'attachment', 'drafts', 'scheduled_messages', 'reminders'],
    ARRAY['realm', 'realm_user', 'user_group', 'user_settings', 'muted_users', 'alert_words', 'realm_linkifiers', 'realm_emoji', 'stream', 'subscription', 'mutes_ended', 'attachments_referenced'],
    '{}'),
  ('natter_presence', 'presence',
    ARRAY['tick', 'presence'],
    ARRAY['realm', 'realm_user', 'user_settings'],
    '{}'),
  ('natter_event_queue', 'event_queue',
    ARRAY['tick'],
    ARRAY['realm_user'],
    '{}');

-- As before, with what the calling role may do. SQLSTATE 42501: not the caller's. Roles that are no service own the database.
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
    LEFT JOIN log.version v ON v.realm_id = p_realm AND v.key = b.key
    WHERE coalesce(v.version, 0) <> b.value::int LIMIT 1;
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

-- Other roles than that of event-queue, which serves the log, read only the types they act on.
CREATE OR REPLACE FUNCTION log.read_types(p_realm int, p_after bigint, p_through bigint, p_types text[], p_limit int)
RETURNS TABLE (number bigint, source text, event json)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM log.writer w WHERE w.role = session_user AND NOT p_types <@ w.reads) THEN
    RAISE EXCEPTION '% does not read all of %', session_user, p_types USING ERRCODE = '42501';
  END IF;
  RETURN QUERY
  SELECT number, source, event FROM log.event
  WHERE realm_id = p_realm AND number > p_after AND number <= p_through AND type = ANY(p_types) ORDER BY number LIMIT p_limit;
END $$;

-- When the first of these events was committed, in milliseconds since 1970.
CREATE FUNCTION log.waiting_since(p_realm int, p_after bigint, p_through bigint, p_types text[]) RETURNS double precision
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT (extract(epoch FROM created_at) * 1000)::float8 FROM log.event
  WHERE realm_id = p_realm AND number > p_after AND number <= p_through AND type = ANY(p_types) ORDER BY number LIMIT 1
$$;

-- The key of the calling service, for what it publishes itself.
CREATE FUNCTION log.own_key() RETURNS TABLE (source text, key bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT source, key FROM log.writer WHERE role = session_user
$$;

-- All keys, for gateways.
CREATE FUNCTION log.keys() RETURNS TABLE (source text, key bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT source, key FROM log.writer
$$;

REVOKE ALL ON FUNCTION log.waiting_since, log.own_key, log.keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.waiting_since, log.own_key TO natter_users, natter_channels, natter_messaging, natter_event_queue, natter_presence;
GRANT EXECUTE ON FUNCTION log.keys TO natter_event_queue;
-- Everybody's events are read by event-queue alone.
REVOKE EXECUTE ON FUNCTION log.read FROM natter_users, natter_channels, natter_messaging, natter_presence;

-- Nobody needs temporary tables, with which names could be shadowed, nor a place in schema public.
DO $$ BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- The owner of log.event can attach rules, defaults and triggers to it, which run with the rights of the function that inserts:
-- these functions therefore belong to a role that reaches the log and nothing else, not to the owner of the database.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'natter_log') THEN
    CREATE ROLE natter_log NOLOGIN;
  END IF;
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT natter_log TO %I', current_user);
  END IF;
END $$;
GRANT USAGE, CREATE ON SCHEMA log TO natter_log;
GRANT SELECT, INSERT, UPDATE ON log.clock, log.version TO natter_log;
GRANT SELECT, INSERT ON log.event TO natter_log;
GRANT SELECT ON log.writer TO natter_log;
ALTER FUNCTION log.append OWNER TO natter_log;
ALTER FUNCTION log.read OWNER TO natter_log;
ALTER FUNCTION log.read_types OWNER TO natter_log;
ALTER FUNCTION log.waiting_since OWNER TO natter_log;
ALTER FUNCTION log.last_number OWNER TO natter_log;
ALTER FUNCTION log.position OWNER TO natter_log;
ALTER FUNCTION log.versions OWNER TO natter_log;
ALTER FUNCTION log.realms OWNER TO natter_log;
ALTER FUNCTION log.create_realm OWNER TO natter_log;
ALTER FUNCTION log.new_epoch OWNER TO natter_log;
ALTER FUNCTION log.dropped OWNER TO natter_log;
ALTER FUNCTION log.own_key OWNER TO natter_log;
ALTER FUNCTION log.keys OWNER TO natter_log;
REVOKE CREATE ON SCHEMA log FROM natter_log;
