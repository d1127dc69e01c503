-- Guests see few people only. Set when the copies below are whole; only then they are kept.
ALTER TABLE users.realm ADD limits_guests boolean NOT NULL DEFAULT false;

-- Copies, of realms that limit their guests: who is subscribed where, and who ever wrote with whom.
CREATE TABLE users.shared_channel (
  realm_id int NOT NULL,
  channel_id int NOT NULL,
  user_id int NOT NULL,
  PRIMARY KEY (channel_id, user_id)
);
CREATE INDEX shared_channel_user ON users.shared_channel (user_id, channel_id);
CREATE INDEX shared_channel_realm ON users.shared_channel (realm_id);
CREATE TABLE users.direct_contact (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  partner_id int NOT NULL,
  PRIMARY KEY (user_id, partner_id)
);
CREATE INDEX direct_contact_realm ON users.direct_contact (realm_id);
