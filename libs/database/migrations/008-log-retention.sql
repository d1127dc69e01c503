-- The end of an event: a partition goes as a whole when it is old enough and every consumer has passed it. The floor is
-- raised first, so that whoever needs what goes is told; then the partition is detached, which only the owner of the table
-- may do and no function can (DETACH CONCURRENTLY is a transaction of its own), then dropped.

-- Events up to this number are no longer in the table. The floor may stand higher: a new epoch raises it alone.
ALTER TABLE log.clock ADD COLUMN dropped bigint NOT NULL DEFAULT 0;

DO $$ BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT natter_event_queue TO %I', current_user);
  END IF;
END $$;
GRANT CREATE ON SCHEMA log TO natter_event_queue;
ALTER TABLE log.event OWNER TO natter_event_queue;
REVOKE CREATE ON SCHEMA log FROM natter_event_queue;
-- It owns the table to detach partitions; it reads through the functions, as all do.
REVOKE ALL ON log.event FROM natter_event_queue;
DO $$ BEGIN
  EXECUTE format('GRANT SELECT, INSERT ON log.event TO %I', current_user);
END $$;

CREATE FUNCTION log.dropped(p_realm int) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT dropped FROM log.clock WHERE realm_id = p_realm
$$;

-- The oldest partition of which all is older than the retention. State: attached, pending (somebody was interrupted while
-- detaching it) or detached.
CREATE FUNCTION log.expired_partition(p_hours int) RETURNS TABLE (name text, state text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
  SELECT c.relname::text, CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'pending' ELSE 'attached' END
  FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid
  WHERE c.relnamespace = 'log'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^event_[0-9]{8}$'
    AND (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' <= now() - make_interval(hours => p_hours)
  ORDER BY c.relname LIMIT 1
$$;

-- Where each consumer of each service stands in each realm. One that is known elsewhere and has not begun here stands at 0.
CREATE FUNCTION log.consumer_positions() RETURNS TABLE (realm_id int, consumer text, "position" bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE positions text;
BEGIN
  SELECT string_agg(format('SELECT %L || name AS consumer, realm_id, position FROM %I.consumer', n.nspname || '.', n.nspname), ' UNION ALL ')
    INTO positions FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'consumer' AND c.relkind = 'r';
  RETURN QUERY EXECUTE format('WITH p AS (%s) SELECT r.realm_id, k.consumer, coalesce(p.position, r.dropped) FROM log.clock r
    CROSS JOIN (SELECT DISTINCT consumer FROM p) k LEFT JOIN p ON p.realm_id = r.realm_id AND p.consumer = k.consumer', positions);
END $$;

-- Raises the floors of at most so many realms over the events of a partition, none over what a consumer has not read. Tells
-- how many it raised, how many are still to be raised, and whom they wait for.
CREATE FUNCTION log.raise_floors(p_name text, p_limit int) RETURNS TABLE (raised int, remaining int, held_back_by text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
BEGIN
  IF p_name !~ '^event_[0-9]{8}$' THEN RAISE EXCEPTION 'not a partition of the log: %', p_name; END IF;
  RETURN QUERY EXECUTE format('
    WITH needed AS MATERIALIZED (
      SELECT c.realm_id, e.last FROM log.clock c
      CROSS JOIN LATERAL (SELECT max(number) AS last FROM log.%I WHERE realm_id = c.realm_id) e WHERE e.last > c.dropped),
    held AS MATERIALIZED (
      SELECT n.realm_id, p.consumer, p.position FROM needed n JOIN log.consumer_positions() p ON p.realm_id = n.realm_id AND p.position < n.last),
    raised AS (
      UPDATE log.clock c SET dropped = n.last, floor = greatest(c.floor, n.last)
      FROM (SELECT * FROM needed WHERE realm_id NOT IN (SELECT realm_id FROM held) ORDER BY realm_id LIMIT %s) n
      WHERE c.realm_id = n.realm_id RETURNING c.realm_id)
    SELECT (SELECT count(*) FROM raised)::int, ((SELECT count(*) FROM needed) - (SELECT count(*) FROM raised))::int,
      (SELECT format(''%%s at %%s in realm %%s'', consumer, position, realm_id) FROM held ORDER BY realm_id, consumer LIMIT 1)', p_name, p_limit);
END $$;

-- Only what is detached and that no realm may still read.
CREATE FUNCTION log.drop_partition(p_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp SET lock_timeout = '2s' AS $$
DECLARE is_needed boolean;
BEGIN
  IF p_name !~ '^event_[0-9]{8}$' OR EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhrelid = to_regclass('log.' || p_name)) THEN
    RAISE EXCEPTION 'not a detached partition of the log: %', p_name;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT FROM log.clock c CROSS JOIN LATERAL
    (SELECT max(number) AS last FROM log.%I WHERE realm_id = c.realm_id) e WHERE e.last > c.dropped)', p_name) INTO is_needed;
  IF is_needed THEN RAISE EXCEPTION 'somebody may still read %', p_name; END IF;
  EXECUTE format('DROP TABLE log.%I', p_name);
END $$;

REVOKE ALL ON FUNCTION log.dropped, log.expired_partition, log.consumer_positions, log.raise_floors, log.drop_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.dropped TO natter_users, natter_channels, natter_messaging, natter_event_queue, natter_presence;
GRANT EXECUTE ON FUNCTION log.expired_partition, log.consumer_positions, log.raise_floors, log.drop_partition TO natter_event_queue;
