-- Some events of some types, up to a number, up to a count, and about a size: at least one, and the one that reaches the size. `bytes`: the
-- size of this event and those before it. Consumers skip an event that only clients need, so its content is left out.
CREATE FUNCTION log.read_some_types(p_realm int, p_after bigint, p_through bigint, p_types text[], p_limit int, p_bytes int)
RETURNS TABLE (number bigint, event json, bytes bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = log, pg_temp AS $$
#variable_conflict use_column
DECLARE
  content text;
BEGIN
  IF EXISTS (SELECT FROM log.writer w WHERE w.role = session_user AND NOT p_types <@ w.reads) THEN
    RAISE EXCEPTION '% does not read all of %', session_user, p_types USING ERRCODE = '42501';
  END IF;
  bytes := 0;
  FOR number, event IN
    SELECT e.number, e.event FROM log.event e
    WHERE e.realm_id = p_realm AND e.number > p_after AND e.number <= p_through AND e.type = ANY(p_types) ORDER BY e.number LIMIT p_limit
  LOOP
    content := event::text;
    bytes := bytes + octet_length(content);
    -- The search is cheaper than parsing each event.
    IF strpos(content, '"isForClientsOnly":true') > 0 AND event->>'isForClientsOnly' = 'true' THEN
      event := '{"isForClientsOnly":true}';
    END IF;
    RETURN NEXT;
    EXIT WHEN bytes >= p_bytes;
  END LOOP;
END $$;

REVOKE ALL ON FUNCTION log.read_some_types FROM PUBLIC;
GRANT EXECUTE ON FUNCTION log.read_some_types TO natter_users, natter_channels, natter_messaging, natter_event_queue, natter_presence;
ALTER FUNCTION log.read_some_types OWNER TO natter_log;
