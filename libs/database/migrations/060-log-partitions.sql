-- Partitions while and after the clock of PostgreSQL is wrong.

-- As before, but a partition exists if it is attached: writes need it. While the clock was ahead, the partition of today may have been
-- detached, and not dropped yet; it is attached again. One whose detachment was cut off can be neither used nor attached: event-queue
-- finishes the detachment first.
CREATE OR REPLACE FUNCTION log.prepare_partitions(p_days int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE
  d date;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7104);
  FOR i IN 0..p_days LOOP
    d := (now() AT TIME ZONE 'UTC')::date + i;
    name := 'event_' || to_char(d, 'YYYYMMDD');
    CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhrelid = to_regclass('log.' || name));
    IF to_regclass('log.' || name) IS NULL THEN
      EXECUTE format('CREATE TABLE log.%I (LIKE log.event INCLUDING DEFAULTS)', name);
    END IF;
    EXECUTE format('ALTER TABLE log.event ATTACH PARTITION log.%I FOR VALUES FROM (%L) TO (%L)',
      name, d::timestamp AT TIME ZONE 'UTC', (d + 1)::timestamp AT TIME ZONE 'UTC');
  END LOOP;
END $$;

-- The oldest partition of which all is older than the retention, and with which no younger event would end. The second rule matters where
-- the clock was set back for a while: the partition of that time holds higher numbers than those of later days, and the floor of a realm
-- cannot be raised over it before these expire. Partitions of days to come do not count: their time was wrong. State: attached, pending
-- (somebody was interrupted while detaching it) or detached.
CREATE OR REPLACE FUNCTION log.expired_partition(p_hours int) RETURNS TABLE (name text, state text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
DECLARE
  kept_from timestamptz := date_trunc('day', (now() - make_interval(hours => p_hours)) AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  tomorrow timestamptz := ((now() AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC';
  is_needed boolean;
BEGIN
  FOR name, state IN
    SELECT c.relname::text, CASE WHEN i.inhrelid IS NULL THEN 'detached' WHEN i.inhdetachpending THEN 'pending' ELSE 'attached' END
    FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid
    WHERE c.relnamespace = 'log'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^event_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' < kept_from
    ORDER BY c.relname
  LOOP
    IF state = 'attached' THEN
      -- Two look-ups in indexes for each realm, and more only where its numbers are not yet dropped.
      EXECUTE format('SELECT EXISTS (SELECT FROM log.clock c
        CROSS JOIN LATERAL (SELECT max(e.number) AS last FROM log.%I e WHERE e.realm_id = c.realm_id) old
        WHERE old.last > c.dropped AND (SELECT e.number FROM log.event e
          WHERE e.realm_id = c.realm_id AND e.number > c.dropped AND e.number < old.last AND e.created_at >= $1 AND e.created_at < $2
          ORDER BY e.number LIMIT 1) IS NOT NULL)', name) INTO is_needed USING kept_from, tomorrow;
      CONTINUE WHEN is_needed;
    END IF;
    RETURN NEXT;
    RETURN;
  END LOOP;
END $$;
