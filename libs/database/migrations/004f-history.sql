-- When a message came to the channel it is in, if it was not sent there.
CREATE TABLE messaging.arrival (
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (realm_id, message_id)
);
