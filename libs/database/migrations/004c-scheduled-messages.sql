-- What is to be sent at a time. `message`: scheduled by its sender. `reminder`: a direct message of the notification bot to
-- its owner. `notice`: a bot's message that follows from a change, due at once.
CREATE TABLE messaging.scheduled_message (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  -- Whose it is, and who sends it.
  user_id int NOT NULL,
  sender_id int NOT NULL,
  kind text NOT NULL DEFAULT 'message',
  state text NOT NULL DEFAULT 'waiting',
  channel_id int,
  -- All participants of a direct message.
  recipient_ids int[],
  topic text NOT NULL DEFAULT '',
  content text NOT NULL,
  rendered_content text NOT NULL DEFAULT '',
  due_at timestamptz NOT NULL,
  is_read_by_sender boolean NOT NULL DEFAULT false,
  client text NOT NULL,
  realm_url text NOT NULL DEFAULT '',
  -- A notice that a topic is resolved: read at once by who wants it so.
  is_resolution boolean NOT NULL DEFAULT false,
  -- Counts edits: a delivery that was decided on an older one is not made.
  revision int NOT NULL DEFAULT 0,
  failure text,
  reminder_target_id bigint,
  message_id bigint,
  sent_at timestamptz
);
CREATE INDEX scheduled_due ON messaging.scheduled_message (due_at, realm_id) WHERE state = 'waiting';
CREATE INDEX scheduled_user ON messaging.scheduled_message (realm_id, user_id, due_at) WHERE state <> 'sent';
CREATE INDEX scheduled_sent ON messaging.scheduled_message (sent_at) WHERE state = 'sent';
