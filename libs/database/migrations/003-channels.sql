CREATE SCHEMA channels;

CREATE TABLE channels.channel (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  rendered_description text NOT NULL DEFAULT '',
  creator_id int,
  is_private boolean NOT NULL DEFAULT false,
  is_archived boolean NOT NULL DEFAULT false,
  history_public boolean NOT NULL DEFAULT true,
  is_default boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX channel_name ON channels.channel (realm_id, lower(name)) WHERE NOT is_archived;

CREATE TABLE channels.subscription (
  realm_id int NOT NULL,
  channel_id int NOT NULL REFERENCES channels.channel (id),
  user_id int NOT NULL,
  -- False after an unsubscribe: the personal settings stay.
  is_active boolean NOT NULL DEFAULT true,
  color text NOT NULL,
  is_muted boolean NOT NULL DEFAULT false,
  pin_to_top boolean NOT NULL DEFAULT false,
  PRIMARY KEY (channel_id, user_id)
);
CREATE INDEX subscription_user ON channels.subscription (realm_id, user_id);

-- This service's own copy of what it needs of people, moved along by its consumer.
CREATE TABLE channels.person (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  email text NOT NULL,
  role int NOT NULL,
  is_active boolean NOT NULL,
  is_bot boolean NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
