-- The first entries after a number, up to a count and about a size: one at least, and the one with which the size is reached.
CREATE FUNCTION log.read_some(p_realm int, p_after bigint, p_limit int, p_bytes int)
RETURNS TABLE (number bigint, mark int, previous_mark int, event json, at double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
DECLARE
  size bigint := 0;
BEGIN
  FOR number, mark, previous_mark, event, at IN
    SELECT e.number, e.mark, e.previous_mark, e.event, (extract(epoch FROM e.created_at) * 1000)::float8
    FROM log.event e WHERE e.realm_id = p_realm AND e.number > p_after ORDER BY e.number LIMIT p_limit
  LOOP
    RETURN NEXT;
    size := size + octet_length(event::text);
    EXIT WHEN size >= p_bytes;
  END LOOP;
END $$;

-- The log is served by event-queue alone.
REVOKE ALL ON FUNCTION log.read_some FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.read_some TO natter_event_queue;
ALTER FUNCTION log.read_some OWNER TO natter_log;
