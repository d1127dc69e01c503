-- The event by which those who mute a user last changed here. A send is decided on `mute_period`, and committed only while this is
-- still the same event. Users whom nobody muted or unmuted since have no row.
CREATE TABLE messaging.mute_change (
  realm_id int NOT NULL,
  muted_id int NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (realm_id, muted_id)
);

-- Refuses a send that was decided before the mutes of its sender changed. The error names the rows of these sends.
CREATE FUNCTION messaging.expect_mutes(p_realm int, p_sender int, p_stored bigint, p_before bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_stored IS DISTINCT FROM p_before THEN
    RAISE EXCEPTION 'row changed: mutes of a sender' USING ERRCODE = 'NT409', DETAIL = json_build_object(
      'realm_id', p_realm, 'sender_id', p_sender, 'mutes_number', p_before);
  END IF;
  RETURN true;
END $$;

-- `messaging.sender_facts` with the event of the last mute. Processes of the previous release use that function; the next release drops it.
CREATE FUNCTION messaging.facts_of_senders(p_asked json)
RETURNS TABLE (ordinal bigint, full_name text, email text, avatar_url text, bot_owner_id int, muted_by int[], mutes_number bigint, alerts json, linkifiers json, is_new_conversation boolean,
  policy int, follow int, unmute int, is_channel_muted boolean)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT q.ordinality, p.full_name, p.email, p.avatar_url,
    (SELECT st.bot_owner_id FROM messaging.standing st WHERE st.realm_id = q.realm_id AND st.user_id = q.sender_id LIMIT 1),
    ARRAY(SELECT mp.user_id FROM messaging.mute_period mp WHERE mp.realm_id = q.realm_id AND mp.muted_id = q.sender_id AND mp.to_id IS NULL),
    (SELECT mc.number FROM messaging.mute_change mc WHERE mc.realm_id = q.realm_id AND mc.muted_id = q.sender_id LIMIT 1),
    coalesce((SELECT json_agg(json_build_object('user_id', a.user_id, 'word', a.word)) FROM (SELECT w.user_id, w.word FROM messaging.alert_word w
      WHERE w.realm_id = q.realm_id AND w.head = ANY(q.heads) LIMIT q.max_alerts) a), '[]'),
    coalesce((SELECT json_agg(json_build_object('id', l.linkifier_id, 'pattern', l.pattern, 'urlTemplate', l.url_template) ORDER BY l.ordinal)
      FROM messaging.linkifier l WHERE l.realm_id = q.realm_id), '[]'),
    CASE WHEN q.channel_id IS NULL
      THEN (SELECT m.id FROM messaging.message m WHERE m.realm_id = q.realm_id AND m.conversation = q.conversation LIMIT 1) IS NULL
      ELSE (SELECT m.id FROM messaging.message m
        WHERE m.realm_id = q.realm_id AND m.channel_id = q.channel_id AND lower(m.topic) = lower(q.topic) ORDER BY m.id LIMIT 1) IS NULL
    END,
    (SELECT t.policy::int FROM messaging.user_topic t
      WHERE t.realm_id = q.realm_id AND t.user_id = q.sender_id AND t.channel_id = q.channel_id AND t.topic_key = lower(q.topic) LIMIT 1),
    (SELECT s.value::int FROM messaging.personal_setting s
      WHERE s.realm_id = q.realm_id AND s.user_id = q.sender_id AND s.name = 'automatically_follow_topics_policy' LIMIT 1),
    (SELECT s.value::int FROM messaging.personal_setting s
      WHERE s.realm_id = q.realm_id AND s.user_id = q.sender_id AND s.name = 'automatically_unmute_topics_in_muted_streams_policy' LIMIT 1),
    (SELECT c.channel_id FROM messaging.muted_channel c
      WHERE c.realm_id = q.realm_id AND c.user_id = q.sender_id AND c.channel_id = q.channel_id LIMIT 1) IS NOT NULL
  FROM ROWS FROM (json_to_recordset(p_asked) AS (realm_id int, sender_id int, heads text[], conversation text, channel_id int, topic text, max_alerts int))
    WITH ORDINALITY AS q
  LEFT JOIN LATERAL (SELECT o.full_name, o.email, o.avatar_url FROM messaging.person o WHERE o.realm_id = q.realm_id AND o.user_id = q.sender_id LIMIT 1) p ON true;
END $$;
