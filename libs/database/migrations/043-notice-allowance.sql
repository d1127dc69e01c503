-- Until when the direct messages about changes of a user use up those that the user may cause in an hour.
CREATE TABLE messaging.notice_allowance (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  used_until timestamptz NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
