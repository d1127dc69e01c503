CREATE SCHEMA presence;

-- What survives Redis: written behind, at most a moment late. Times are UNIX seconds.
CREATE TABLE presence.presence (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  active_at bigint,
  connected_at bigint NOT NULL,
  update_id bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id)
) WITH (fillfactor = 70);

-- Days on which somebody used a client, for statistics.
CREATE TABLE presence.active_day (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  day date NOT NULL,
  inputs int NOT NULL DEFAULT 0,
  PRIMARY KEY (realm_id, user_id, day)
);

-- Copies, kept by a consumer.
CREATE TABLE presence.person (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  email text NOT NULL,
  is_active boolean NOT NULL,
  is_bot boolean NOT NULL,
  presence_enabled boolean NOT NULL DEFAULT true,
  PRIMARY KEY (realm_id, user_id)
);
CREATE INDEX person_email ON presence.person (realm_id, lower(email));
CREATE TABLE presence.realm (
  realm_id int PRIMARY KEY,
  presence_disabled boolean NOT NULL DEFAULT false
);
