-- This service's copy of groups: who is mentioned by one, and who may.
CREATE TABLE messaging.user_group (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  name text NOT NULL,
  is_deactivated boolean NOT NULL,
  can_mention jsonb NOT NULL,
  PRIMARY KEY (realm_id, group_id)
);
CREATE TABLE messaging.group_member (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  user_id int NOT NULL,
  PRIMARY KEY (realm_id, group_id, user_id)
);
CREATE INDEX group_member_user ON messaging.group_member (realm_id, user_id);
CREATE TABLE messaging.group_subgroup (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  subgroup_id int NOT NULL,
  PRIMARY KEY (realm_id, group_id, subgroup_id)
);
CREATE INDEX group_subgroup_sub ON messaging.group_subgroup (realm_id, subgroup_id);

CREATE TABLE messaging.alert_word (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  word text NOT NULL,
  -- Its first run of letters and digits, by which a text that holds it is found.
  head text NOT NULL,
  PRIMARY KEY (realm_id, user_id, word)
);
CREATE INDEX alert_word_head ON messaging.alert_word (realm_id, head) INCLUDE (word);
-- In the order in which they apply.
CREATE TABLE messaging.linkifier (
  realm_id int NOT NULL,
  ordinal int NOT NULL,
  linkifier_id int NOT NULL,
  pattern text NOT NULL,
  url_template text NOT NULL,
  PRIMARY KEY (realm_id, ordinal)
);
