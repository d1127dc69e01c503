-- Refuses a change that permits only the empty topic in a channel, if an event after p_through put a message into another topic of
-- it. The change is then decided again. Called while the clock is locked. Messages of the bots of the system count here, too: the
-- repeated decision ignores them.
CREATE FUNCTION channels.expect_no_named_topic(p_realm int, p_channel int, p_through bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM log.read_types(p_realm, p_through, log.last_number(p_realm), ARRAY['message', 'update_message'], 1000000) r
    CROSS JOIN LATERAL (SELECT r.event->'message' AS sent, r.event->'body' AS moved) e
    WHERE (e.sent->>'channelId')::int = p_channel AND e.sent->>'topic' <> ''
      -- A change of the content alone has neither topic.
      OR coalesce(e.moved->>'new_stream_id', e.moved->>'stream_id')::int = p_channel
        AND coalesce(e.moved->>'subject', e.moved->>'orig_subject') <> ''
  ) THEN
    RAISE EXCEPTION 'row changed: a topic of a channel' USING ERRCODE = 'NT409';
  END IF;
  RETURN true;
END $$;
