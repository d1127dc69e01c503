-- As before, but the error names the row, so that only the sends with this row are refused, and only in its realm. Processes
-- of the previous release call the function with three parameters.
CREATE FUNCTION messaging.expect_preference(
  p_realm int, p_user int, p_channel int, p_topic text, p_stored int, p_before int, p_after int
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_stored IS DISTINCT FROM p_before AND p_stored IS DISTINCT FROM p_after THEN
    RAISE EXCEPTION 'row changed: preference of a topic' USING ERRCODE = 'NT409', DETAIL = json_build_object(
      'realm_id', p_realm, 'user_id', p_user, 'channel_id', p_channel, 'topic', p_topic, 'before', p_before);
  END IF;
  RETURN true;
END $$;
