-- The log: a gapless, commit-ordered sequence of events per realm. Services reach it only through these functions.
CREATE SCHEMA log;
REVOKE ALL ON SCHEMA log FROM PUBLIC;

CREATE TABLE log.clock (
  realm_id int PRIMARY KEY,
  number bigint NOT NULL DEFAULT 0,
  mark int NOT NULL DEFAULT 0,
  epoch int NOT NULL DEFAULT 1,
  -- Events up to and including this number may be gone.
  floor bigint NOT NULL DEFAULT 0,
  last_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

CREATE TABLE log.version (
  realm_id int NOT NULL,
  key text NOT NULL,
  version int NOT NULL,
  PRIMARY KEY (realm_id, key)
) WITH (fillfactor = 50);

CREATE TABLE log.event (
  realm_id int NOT NULL,
  number bigint NOT NULL,
  mark int NOT NULL,
  previous_mark int NOT NULL,
  source text NOT NULL,
  type text NOT NULL,
  event json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (realm_id, number, created_at)
) PARTITION BY RANGE (created_at);

-- Partitions are attached days ahead; ATTACH does not wait behind readers.
CREATE FUNCTION log.prepare_partitions(p_days int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE
  d date;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7104);
  FOR i IN 0..p_days LOOP
    d := (now() AT TIME ZONE 'UTC')::date + i;
    name := 'event_' || to_char(d, 'YYYYMMDD');
    IF to_regclass('log.' || name) IS NULL THEN
      EXECUTE format('CREATE TABLE log.%I (LIKE log.event INCLUDING DEFAULTS)', name);
      EXECUTE format('ALTER TABLE log.event ATTACH PARTITION log.%I FOR VALUES FROM (%L) TO (%L)',
        name, d::timestamp AT TIME ZONE 'UTC', (d + 1)::timestamp AT TIME ZONE 'UTC');
    END IF;
  END LOOP;
END $$;
SELECT log.prepare_partitions(4);

CREATE FUNCTION log.create_realm(p_realm int) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = log, pg_temp AS $$
  INSERT INTO log.clock (realm_id) VALUES (p_realm) ON CONFLICT DO NOTHING
$$;

-- Takes the realm's clock, then, as later statements that see what was committed meanwhile: compares the basis, bumps
-- versions, numbers and inserts the events. Must be the last lock of a transaction. SQLSTATE NT409: the basis changed.
CREATE FUNCTION log.append(p_realm int, p_basis jsonb, p_bumps text[], p_source text, p_events json)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE
  c log.clock;
  n int := json_array_length(p_events);
  stale text;
  marks int[];
  at timestamptz;
BEGIN
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
    INSERT INTO log.event (realm_id, number, mark, previous_mark, source, type, event, created_at)
      SELECT p_realm, c.number + e.i, marks[e.i], CASE WHEN e.i = 1 THEN c.mark ELSE marks[e.i - 1] END,
        p_source, e.event->>'type', e.event, at
      FROM json_array_elements(p_events) WITH ORDINALITY e(event, i);
    UPDATE log.clock SET number = c.number + n, mark = marks[n], last_at = at WHERE realm_id = p_realm;
  END IF;
  RETURN jsonb_build_object('first', c.number + 1, 'marks', to_jsonb(marks), 'previous_mark', c.mark,
    'at', extract(epoch FROM at) * 1000);
END $$;

-- What is asked often is written in plpgsql, which keeps its plans for the life of a connection.

-- The last number given in this realm; only meaningful to the transaction that has just appended.
CREATE FUNCTION log.last_number(p_realm int) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
BEGIN
  RETURN (SELECT number FROM log.clock WHERE realm_id = p_realm);
END $$;

CREATE FUNCTION log.position(p_realm int) RETURNS TABLE (number bigint, mark int, epoch int, floor bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT number, mark, epoch, floor FROM log.clock WHERE realm_id = p_realm;
END $$;

CREATE FUNCTION log.versions(p_realm int, p_keys text[]) RETURNS TABLE (key text, version int)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k, coalesce(v.version, 0) FROM unnest(p_keys) k
  LEFT JOIN log.version v ON v.realm_id = p_realm AND v.key = k;
END $$;

CREATE FUNCTION log.read(p_realm int, p_after bigint, p_limit int)
RETURNS TABLE (number bigint, mark int, previous_mark int, source text, type text, event json, at double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT number, mark, previous_mark, source, type, event, (extract(epoch FROM created_at) * 1000)::float8
  FROM log.event WHERE realm_id = p_realm AND number > p_after ORDER BY number LIMIT p_limit;
END $$;

-- Events of some types, up to a number.
CREATE FUNCTION log.read_types(p_realm int, p_after bigint, p_through bigint, p_types text[], p_limit int)
RETURNS TABLE (number bigint, source text, event json)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT number, source, event FROM log.event
  WHERE realm_id = p_realm AND number > p_after AND number <= p_through AND type = ANY(p_types) ORDER BY number LIMIT p_limit;
END $$;

-- Realms with events in the last minutes, or all, and where their clocks stand.
CREATE FUNCTION log.realms(p_within interval) RETURNS TABLE (realm_id int, number bigint, mark int, epoch int)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT realm_id, number, mark, epoch FROM log.clock WHERE p_within IS NULL OR last_at > now() - p_within
$$;

-- Postgres lost its tail: nothing that was ever given may be given again.
CREATE FUNCTION log.new_epoch(p_realm int, p_beyond bigint, p_seen_epoch int) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE e int;
BEGIN
  UPDATE log.clock SET epoch = epoch + 1, number = greatest(number, p_beyond) + 1000, floor = greatest(number, p_beyond) + 1000
    WHERE realm_id = p_realm AND epoch = p_seen_epoch RETURNING epoch INTO e;
  RETURN e;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA log FROM PUBLIC;
