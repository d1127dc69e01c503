-- Until when the moves of a user use up the number of messages that the user may move in a minute. A row for each user who
-- ever moved several messages at once.
CREATE TABLE messaging.move_allowance (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  used_until timestamptz NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON messaging.move_allowance TO natter_messaging;
