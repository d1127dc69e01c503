-- Until when the reports of a user to the moderators use up those of an hour.
CREATE TABLE messaging.report_allowance (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  used_until timestamptz NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
