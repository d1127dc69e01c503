-- The time of a realm's next event: at least that of the last one, if the clock was set back by some seconds. A time that is further ahead
-- was stored while the clock was wrong, and is not given to all later events. Nothing depends on the order of the times: events are
-- ordered by number. The planner inlines it, so it has no settings of its own.
CREATE FUNCTION log.time_after(p_last timestamptz, p_now timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_last BETWEEN p_now AND p_now + interval '10 seconds' THEN p_last ELSE p_now END
$$;
REVOKE ALL ON FUNCTION log.time_after FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.time_after TO natter_log;

-- As before, with that time.
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
  base int;
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
  base := log.version_base(c.epoch);
  SELECT b.key INTO stale FROM jsonb_each_text(p_basis) b
    LEFT JOIN log.version v ON v.realm_id = p_realm AND v.key = log.version_key(b.key)
    WHERE log.is_stale(b.key, b.value::int, coalesce(v.version, 0) + base) LIMIT 1;
  IF FOUND THEN RAISE EXCEPTION 'basis changed: %', stale USING ERRCODE = 'NT409'; END IF;
  INSERT INTO log.version AS v (realm_id, key, version)
    SELECT DISTINCT p_realm, k, 1 FROM unnest(p_bumps) k
    ON CONFLICT (realm_id, key) DO UPDATE SET version = v.version + 1;
  at := log.time_after(c.last_at, clock_timestamp());
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

CREATE OR REPLACE FUNCTION log.append_many(p_source text, p_items json) RETURNS json
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  w log.writer;
  held log.clock[];
  stale jsonb;
  foreign_name text;
  done json;
  last_numbers json;
  at timestamptz;
BEGIN
  SELECT * INTO w FROM log.writer WHERE role = session_user;
  IF FOUND AND p_source IS DISTINCT FROM w.source THEN
    RAISE EXCEPTION '% is not the source %', session_user, p_source USING ERRCODE = '42501';
  END IF;
  SELECT array_agg(c) INTO held FROM (
    SELECT k.* FROM log.clock k
    WHERE k.realm_id = ANY (ARRAY(SELECT i.realm_id FROM json_to_recordset(p_items) AS i (realm_id int)))
    FOR UPDATE SKIP LOCKED) c;
  -- A later statement than the one that took the clocks: it sees every version that was committed before them.
  SELECT coalesce(jsonb_object_agg(i.realm_id, b.key), '{}') INTO stale
    FROM json_to_recordset(p_items) AS i (realm_id int, basis json)
      JOIN (SELECT realm_id, log.version_base(epoch) AS base FROM unnest(held) OFFSET 0) c ON c.realm_id = i.realm_id,
      json_each_text(i.basis) b
    -- Not a join, for which the planner might read the whole table.
    WHERE log.is_stale(b.key, b.value::int,
      coalesce((SELECT v.version FROM log.version v WHERE v.realm_id = i.realm_id AND v.key = log.version_key(b.key)), 0)
        + c.base);
  at := clock_timestamp();
  WITH numbered AS MATERIALIZED (
    SELECT c.realm_id, c.number + e.i AS number, (random() * 2147483646)::int + 1 AS mark, c.mark AS clock_mark,
      log.time_after(c.last_at, at) AS created_at, e.event
    FROM unnest(held) c JOIN json_to_recordset(p_items) AS i (realm_id int, events json) ON i.realm_id = c.realm_id,
      json_array_elements(i.events) WITH ORDINALITY e(event, i)
    WHERE NOT stale ? c.realm_id::text),
  inserted AS (
    INSERT INTO log.event (realm_id, number, mark, previous_mark, source, type, event, created_at)
      SELECT n.realm_id, n.number, n.mark, coalesce(lag(n.mark) OVER (PARTITION BY n.realm_id ORDER BY n.number), n.clock_mark),
        p_source, n.event->>'type', n.event, n.created_at
      FROM numbered n
    RETURNING type),
  realms AS MATERIALIZED (
    SELECT n.realm_id, min(n.number) AS first, max(n.number) AS last, array_agg(n.mark ORDER BY n.number) AS marks,
      min(n.clock_mark) AS previous_mark, min(n.created_at) AS created_at
    FROM numbered n GROUP BY n.realm_id),
  moved AS (
    UPDATE log.clock c SET number = r.last, mark = r.marks[cardinality(r.marks)], last_at = r.created_at
    FROM realms r WHERE c.realm_id = r.realm_id AND c.realm_id = ANY (ARRAY(SELECT realm_id FROM realms)))
  SELECT (SELECT type FROM inserted WHERE w.role IS NOT NULL AND NOT type = ANY (w.appends) LIMIT 1),
    json_agg(json_build_object('realm_id', r.realm_id, 'first', r.first, 'marks', r.marks, 'previous_mark', r.previous_mark,
      'at', extract(epoch FROM r.created_at) * 1000)),
    json_object_agg(r.realm_id, r.last)
  INTO foreign_name, done, last_numbers FROM realms r;
  IF foreign_name IS NOT NULL THEN
    RAISE EXCEPTION '% does not append events of type %', session_user, foreign_name USING ERRCODE = '42501';
  END IF;
  PERFORM set_config('natter.appended', coalesce(last_numbers, '{}')::text, true);
  RETURN coalesce((SELECT json_agg(a) FROM (
    SELECT value AS a FROM json_array_elements(done)
    UNION ALL SELECT json_build_object('realm_id', key::int, 'stale', value) FROM jsonb_each_text(stale)) every), '[]');
END $$;
