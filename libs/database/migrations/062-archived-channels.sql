-- Settings of a realm name no archived channel. The consumer begins first, so that it sees every channel that is archived meanwhile.
INSERT INTO users.consumer (realm_id, name, position) SELECT realm_id, 'archived-channels', number FROM log.clock ON CONFLICT DO NOTHING;

-- Channels that were archived before. Clients and other services learn of the change from the event.
CREATE FUNCTION pg_temp.archived_in_settings(p_realm int) RETURNS jsonb LANGUAGE sql AS $$
  SELECT jsonb_object_agg(s.key, -1) FROM users.realm r, jsonb_each(r.settings) s, channels.channel c
  WHERE r.id = p_realm AND c.realm_id = r.id AND c.is_archived AND to_jsonb(c.id) = s.value AND s.key IN (
    'moderation_request_channel_id', 'new_stream_announcements_stream_id', 'signup_announcements_stream_id', 'zulip_update_announcements_stream_id')
$$;
DO $$
DECLARE
  changed int;
  none jsonb;
BEGIN
  FOR changed IN SELECT id FROM users.realm WHERE pg_temp.archived_in_settings(id) IS NOT NULL ORDER BY id LOOP
    PERFORM FROM users.realm WHERE id = changed FOR NO KEY UPDATE;
    none := pg_temp.archived_in_settings(changed);
    CONTINUE WHEN none IS NULL;
    UPDATE users.realm SET settings = settings || none WHERE id = changed;
    PERFORM log.append(changed, '{}', ARRAY['realm'], 'users', json_build_array(json_build_object(
      'type', 'realm', 'op', 'update_dict', 'body', json_build_object('property', 'default', 'data', none), 'audience', 'realm')));
  END LOOP;
END $$;
