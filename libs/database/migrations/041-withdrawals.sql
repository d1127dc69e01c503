-- The users who lost access to messages in a move: bits of their ids, in blocks of 4,096 ids.
CREATE SEQUENCE messaging.withdrawal_id;
CREATE TABLE messaging.withdrawal (
  realm_id int NOT NULL,
  id bigint NOT NULL,
  block int NOT NULL,
  bits bit(4096) NOT NULL,
  PRIMARY KEY (realm_id, id, block)
);

-- Messages that are read for the users of a withdrawal. Rows grow with messages and users, not with their product.
CREATE TABLE messaging.withdrawn_message (
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  withdrawal_id bigint NOT NULL,
  PRIMARY KEY (realm_id, message_id, withdrawal_id)
);
CREATE INDEX withdrawn_message_withdrawal ON messaging.withdrawn_message (realm_id, withdrawal_id);
