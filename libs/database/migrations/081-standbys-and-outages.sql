-- Only the primary knows where a log ends. A standby may lag behind: then entries that it does not have yet would count as lost. With
-- SQLSTATE 25006 the connection is closed, and the request is repeated on another one.

-- As before, on a primary.
CREATE OR REPLACE FUNCTION log.position(p_realm int) RETURNS TABLE (number bigint, mark int, epoch int, floor bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF pg_is_in_recovery() THEN RAISE EXCEPTION 'a standby may lag behind the log' USING ERRCODE = '25006'; END IF;
  RETURN QUERY
  SELECT number, mark, epoch, floor FROM log.clock WHERE realm_id = p_realm;
END $$;

-- As before, on a primary.
CREATE OR REPLACE FUNCTION log.read_some(p_realm int, p_after bigint, p_limit int, p_bytes int)
RETURNS TABLE (number bigint, mark int, previous_mark int, event json, at double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
DECLARE
  size bigint := 0;
BEGIN
  IF pg_is_in_recovery() THEN RAISE EXCEPTION 'a standby may lag behind the log' USING ERRCODE = '25006'; END IF;
  FOR number, mark, previous_mark, event, at IN
    SELECT e.number, e.mark, e.previous_mark, e.event, (extract(epoch FROM e.created_at) * 1000)::float8
    FROM log.event e WHERE e.realm_id = p_realm AND e.number > p_after ORDER BY e.number LIMIT p_limit
  LOOP
    RETURN NEXT;
    size := size + octet_length(event::text);
    EXIT WHEN size >= p_bytes;
  END LOOP;
END $$;

-- Times in which no client could poll. Events of the log are kept longer by them, as queues are.
CREATE TABLE event_queue.outage (
  from_at timestamptz PRIMARY KEY,
  to_at timestamptz NOT NULL
);
