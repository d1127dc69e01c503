-- A bot that may send in the name of others, and state when the message was sent.
ALTER TABLE users.account ADD COLUMN can_forge_sender boolean NOT NULL DEFAULT false;

-- The stated time; NULL: `sent_at`. It is shown only: ids, limits and retention follow `sent_at`.
ALTER TABLE messaging.message ADD COLUMN stated_at timestamptz;

-- A notice of a bot arrives read for this user, whose action it reports. NULL: for nobody.
ALTER TABLE messaging.scheduled_message ADD COLUMN read_by int;
