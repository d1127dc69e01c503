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
  -- Where it was sent, wherever it is now: who received it is decided by that.
  sent_channel_id int,
  is_read_by_sender boolean NOT NULL DEFAULT false,
  -- Of a direct message: its participants' ids, ascending, with commas.
  conversation text,
  mentioned_ids int[],
  topic_mentioned_ids int[],
  alerted_ids int[],
  mentions_channel boolean NOT NULL DEFAULT false,
  -- Of a notice that a topic is resolved: for whom it is unread; for everybody else it arrived read. NULL: no such notice.
  unread_for int[],
  has_link boolean NOT NULL DEFAULT false,
  has_image boolean NOT NULL DEFAULT false,
  search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, topic || ' ' || content)) STORED,
  PRIMARY KEY (realm_id, id)
);
CREATE INDEX message_channel ON messaging.message (realm_id, channel_id, id) WHERE channel_id IS NOT NULL;
CREATE INDEX message_direct ON messaging.message (realm_id, id) WHERE channel_id IS NULL;
CREATE INDEX message_sent_channel ON messaging.message (realm_id, sent_channel_id, id) WHERE sent_channel_id IS NOT NULL;
CREATE INDEX message_topic ON messaging.message (realm_id, channel_id, lower(topic), id) WHERE channel_id IS NOT NULL;
CREATE INDEX message_conversation ON messaging.message (realm_id, conversation, id) WHERE conversation IS NOT NULL;
CREATE INDEX message_sender ON messaging.message (realm_id, sender_id, id);
CREATE INDEX message_mentioned ON messaging.message USING gin (mentioned_ids) WHERE mentioned_ids IS NOT NULL;
CREATE INDEX message_mentions_channel ON messaging.message (realm_id, id) WHERE mentions_channel;
CREATE INDEX message_search ON messaging.message USING gin (search);

-- A row per participant of a direct message.
CREATE TABLE messaging.direct_message (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  message_id bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id, message_id)
);

CREATE TABLE messaging.person (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  email text NOT NULL,
  full_name text NOT NULL,
  is_active boolean NOT NULL,
  is_bot boolean NOT NULL,
  avatar_url text NOT NULL DEFAULT '',
  PRIMARY KEY (realm_id, user_id)
);
CREATE INDEX person_email ON messaging.person (realm_id, lower(email));
