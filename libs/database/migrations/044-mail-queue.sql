-- Mails that wait to be sent, until they are sent, refused or expired. Their content is sealed: it has links with
-- one-time keys. `due_at`: the next attempt, or when a process that is sending the mail counts as lost.
CREATE TABLE users.mail (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  sealed text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX mail_due ON users.mail (due_at);
