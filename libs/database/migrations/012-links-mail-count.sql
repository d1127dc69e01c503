-- Mails of a day (UTC), by what is limited: who asked for them, the address they went to, the realm. Rows of past days are deleted by the next mail.
CREATE TABLE users.mail_count (
  realm_id int NOT NULL,
  day date NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  sent int NOT NULL,
  PRIMARY KEY (realm_id, day, kind, subject)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON users.mail_count TO natter_users;
