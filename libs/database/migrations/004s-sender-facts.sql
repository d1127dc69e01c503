-- What a send looks up besides what its text names, for many sends at once: a list of {realm_id, sender_id, heads, and conversation
-- or channel_id and topic}. A function, because its plan is then made once per connection and not once per call. Each look-up is
-- kept to a descent of an index by its LIMIT: over a list the planner would rather hash whole tables.
CREATE FUNCTION messaging.sender_facts(p_asked json)
RETURNS TABLE (ordinal bigint, full_name text, email text, avatar_url text, bot_owner_id int, muted_by int[], alerts json, linkifiers json, is_new_conversation boolean,
  policy int, follow int, unmute int, is_channel_muted boolean)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT q.ordinality, p.full_name, p.email, p.avatar_url,
    (SELECT st.bot_owner_id FROM messaging.standing st WHERE st.realm_id = q.realm_id AND st.user_id = q.sender_id LIMIT 1),
    ARRAY(SELECT mp.user_id FROM messaging.mute_period mp WHERE mp.realm_id = q.realm_id AND mp.muted_id = q.sender_id AND mp.to_id IS NULL),
    coalesce((SELECT json_agg(json_build_object('user_id', a.user_id, 'word', a.word)) FROM messaging.alert_word a
      WHERE a.realm_id = q.realm_id AND a.head = ANY(q.heads)), '[]'),
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
  FROM ROWS FROM (json_to_recordset(p_asked) AS (realm_id int, sender_id int, heads text[], conversation text, channel_id int, topic text))
    WITH ORDINALITY AS q
  LEFT JOIN LATERAL (SELECT o.full_name, o.email, o.avatar_url FROM messaging.person o WHERE o.realm_id = q.realm_id AND o.user_id = q.sender_id LIMIT 1) p ON true;
END $$;
