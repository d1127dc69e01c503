CREATE TABLE messaging.reaction (
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  user_id int NOT NULL,
  emoji_name text NOT NULL,
  emoji_code text NOT NULL,
  reaction_type text NOT NULL,
  reacted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (realm_id, message_id, user_id, reaction_type, emoji_code)
);

CREATE TABLE messaging.submessage (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  sender_id int NOT NULL,
  msg_type text NOT NULL,
  content text NOT NULL
);
CREATE INDEX submessage_message ON messaging.submessage (realm_id, message_id);

-- What a message was before each change. NULL: this part was not changed.
CREATE TABLE messaging.message_edit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  user_id int NOT NULL,
  edited_at timestamptz NOT NULL,
  prev_content text,
  prev_rendered_content text,
  prev_topic text,
  topic text,
  prev_channel_id int,
  channel_id int
);
CREATE INDEX message_edit_message ON messaging.message_edit (realm_id, message_id, id);

-- This service's copy of the realm's own emoji.
CREATE TABLE messaging.realm_emoji (
  realm_id int NOT NULL,
  id text NOT NULL,
  name text NOT NULL,
  source_url text NOT NULL,
  is_deactivated boolean NOT NULL,
  PRIMARY KEY (realm_id, id)
);
