-- Channels that a user left with an event, and whose messages before it are still unread. The next release drops messaging.leaving,
-- which processes of the previous release use.
CREATE TABLE messaging.left_channels (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  number bigint NOT NULL,
  channel_ids int[] NOT NULL,
  PRIMARY KEY (realm_id, user_id, number)
);

-- Messages after the event up to `through` may have been decided on the mutes before it. They are corrected up to `corrected`.
ALTER TABLE messaging.mute_change ADD through bigint NOT NULL DEFAULT 0, ADD corrected bigint NOT NULL DEFAULT 0;
