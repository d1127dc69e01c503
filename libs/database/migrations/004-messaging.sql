CREATE SCHEMA messaging;

-- The id of a message is the number of its event.
CREATE TABLE messaging.message (
  realm_id int NOT NULL,
  id bigint NOT NULL,
  sender_id int NOT NULL,
  channel_id int,
  topic text NOT NULL DEFAULT '',
  recipient_ids int[],
  content text NOT NULL,
  rendered_content text NOT NULL,
  client text NOT NULL,
  sent_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (realm_id, id)
);
CREATE INDEX message_channel ON messaging.message (realm_id, channel_id, id);

CREATE TABLE messaging.person (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  email text NOT NULL,
  full_name text NOT NULL,
  is_active boolean NOT NULL,
  is_bot boolean NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
CREATE INDEX person_email ON messaging.person (realm_id, lower(email));
