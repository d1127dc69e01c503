-- Refuses to commit a transaction that took longer than its caller waits. `p_ms`: the time that was left when it began.
CREATE FUNCTION log.check_deadline(p_ms int) RETURNS void LANGUAGE plpgsql SET search_path = log, pg_temp AS $$
BEGIN
  IF clock_timestamp() > now() + p_ms * interval '1 millisecond' THEN
    RAISE EXCEPTION 'the deadline has passed' USING ERRCODE = 'NT408';
  END IF;
END $$;

REVOKE ALL ON FUNCTION log.check_deadline FROM PUBLIC;
DO $$
DECLARE
  s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['users', 'channels', 'messaging', 'event_queue', 'presence'] LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION log.check_deadline TO %I', 'natter_' || s);
  END LOOP;
END $$;

-- An operator asked that a parked event be applied once more.
DO $$
DECLARE
  s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['users', 'channels', 'messaging', 'event_queue', 'presence'] LOOP
    EXECUTE format('ALTER TABLE %I.parked_event ADD COLUMN is_asked_for boolean NOT NULL DEFAULT false', s);
  END LOOP;
END $$;
