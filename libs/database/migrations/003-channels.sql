CREATE SCHEMA channels;

CREATE TABLE channels.folder (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  rendered_description text NOT NULL DEFAULT '',
  creator_id int,
  position int NOT NULL,
  is_archived boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX folder_name ON channels.folder (realm_id, lower(name)) WHERE NOT is_archived;

CREATE TABLE channels.channel (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  rendered_description text NOT NULL DEFAULT '',
  creator_id int,
  is_private boolean NOT NULL DEFAULT false,
  is_web_public boolean NOT NULL DEFAULT false,
  is_archived boolean NOT NULL DEFAULT false,
  history_public boolean NOT NULL DEFAULT true,
  is_default boolean NOT NULL DEFAULT false,
  -- NULL inherits from the realm, -1 keeps for ever.
  message_retention_days int,
  topics_policy text NOT NULL DEFAULT 'inherit',
  folder_id int REFERENCES channels.folder (id),
  -- A group-setting value for each permission of a channel, by name.
  permissions jsonb NOT NULL,
  -- Active people among its subscribers.
  subscriber_count int NOT NULL DEFAULT 0,
  -- What makes its email address unguessable.
  email_secret text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
  -- Figures of its messages, moved along by the consumer of messages and a daily count.
  first_message_id bigint,
  last_message_day date,
  is_recently_active boolean NOT NULL DEFAULT true,
  weekly_traffic int,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX channel_name ON channels.channel (realm_id, lower(name)) WHERE NOT is_archived;
CREATE INDEX channel_realm ON channels.channel (realm_id);

CREATE TABLE channels.subscription (
  realm_id int NOT NULL,
  channel_id int NOT NULL REFERENCES channels.channel (id),
  user_id int NOT NULL,
  -- False after an unsubscribe: the personal settings stay.
  is_active boolean NOT NULL DEFAULT true,
  color text NOT NULL,
  is_muted boolean NOT NULL DEFAULT false,
  pin_to_top boolean NOT NULL DEFAULT false,
  -- NULL inherits the user's own setting.
  desktop_notifications boolean,
  email_notifications boolean,
  push_notifications boolean,
  audible_notifications boolean,
  wildcard_mentions_notify boolean,
  PRIMARY KEY (channel_id, user_id)
);
CREATE INDEX subscription_user ON channels.subscription (realm_id, user_id) INCLUDE (channel_id, is_active);

-- Messages sent to a channel on a day, kept for four weeks.
CREATE TABLE channels.traffic (
  realm_id int NOT NULL,
  channel_id int NOT NULL,
  day date NOT NULL,
  messages int NOT NULL,
  PRIMARY KEY (realm_id, channel_id, day)
);

CREATE TABLE channels.default_group (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX default_group_name ON channels.default_group (realm_id, name);
CREATE TABLE channels.default_group_channel (
  group_id int NOT NULL REFERENCES channels.default_group (id) ON DELETE CASCADE,
  channel_id int NOT NULL REFERENCES channels.channel (id),
  PRIMARY KEY (group_id, channel_id)
);

-- This service's own copy of what it needs of people and groups, moved along by its consumer.
CREATE TABLE channels.person (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  email text NOT NULL,
  role int NOT NULL,
  is_active boolean NOT NULL,
  is_bot boolean NOT NULL,
  bot_owner_id int,
  -- What a channel's own notification setting falls back to, by its name.
  notifications jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (realm_id, user_id)
);
CREATE INDEX person_inactive ON channels.person (realm_id, user_id) WHERE NOT is_active;
CREATE INDEX person_bot ON channels.person (realm_id, user_id) WHERE is_bot;
-- The last day somebody was seen to act.
CREATE TABLE channels.activity (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  day date NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
CREATE TABLE channels.user_group (
  realm_id int NOT NULL,
  id int NOT NULL,
  name text NOT NULL,
  is_system boolean NOT NULL,
  is_active boolean NOT NULL,
  PRIMARY KEY (realm_id, id)
);
CREATE TABLE channels.group_member (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  user_id int NOT NULL,
  PRIMARY KEY (realm_id, group_id, user_id)
);
CREATE TABLE channels.group_subgroup (
  realm_id int NOT NULL,
  group_id int NOT NULL,
  subgroup_id int NOT NULL,
  PRIMARY KEY (realm_id, group_id, subgroup_id)
);
-- Changes with every change of the copy, so that a process knows whether what it holds in memory is this one.
CREATE TABLE channels.directory (
  realm_id int PRIMARY KEY,
  stamp text NOT NULL,
  -- What new users' notification settings start from.
  notifications jsonb NOT NULL DEFAULT '{}'
);
