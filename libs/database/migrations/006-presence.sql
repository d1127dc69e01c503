CREATE SCHEMA presence;

CREATE TABLE presence.presence (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  active_at bigint,
  connected_at bigint NOT NULL,
  update_id bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
CREATE INDEX presence_update ON presence.presence (realm_id, update_id);
CREATE SEQUENCE presence.update_id;
