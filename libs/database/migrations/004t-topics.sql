-- A user's preference for a topic: 1 muted, 2 unmuted, 3 followed. No row inherits from the channel.
CREATE TABLE messaging.user_topic (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  channel_id int NOT NULL,
  -- As first written; compared by its key, the lower case.
  topic text NOT NULL,
  topic_key text NOT NULL,
  policy int NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (realm_id, user_id, channel_id, topic_key)
);
CREATE INDEX user_topic_topic ON messaging.user_topic (realm_id, channel_id, topic_key);

-- This service's copy of who muted which channel.
CREATE TABLE messaging.muted_channel (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  channel_id int NOT NULL,
  PRIMARY KEY (realm_id, user_id, channel_id)
);
