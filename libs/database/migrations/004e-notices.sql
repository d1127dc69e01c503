CREATE INDEX scheduled_notice ON messaging.scheduled_message (realm_id) WHERE state = 'waiting' AND kind = 'notice';

-- What notices of bots are decided by; a setting without a row has its usual value.
CREATE TABLE messaging.realm_setting (
  realm_id int NOT NULL,
  name text NOT NULL,
  value jsonb NOT NULL,
  PRIMARY KEY (realm_id, name)
);
CREATE TABLE messaging.group_name (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (realm_id, group_id)
);
