-- Refuses a send that gives a user a preference for a topic, if the user's preference is no longer the one that the send was
-- decided on. One that the send would store anyway is no conflict.
CREATE FUNCTION messaging.expect_preference(p_stored int, p_before int, p_after int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_stored IS DISTINCT FROM p_before AND p_stored IS DISTINCT FROM p_after THEN
    RAISE EXCEPTION 'row changed: preference of a topic' USING ERRCODE = 'NT409';
  END IF;
  RETURN true;
END $$;
