-- Who received what: from which number of the log to which somebody was subscribed. Open periods have no end.
CREATE TABLE messaging.subscription_period (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  channel_id int NOT NULL,
  from_id bigint NOT NULL,
  to_id bigint,
  PRIMARY KEY (realm_id, user_id, channel_id, from_id)
);
CREATE INDEX subscription_period_channel ON messaging.subscription_period (realm_id, channel_id) WHERE to_id IS NULL;

-- Whose messages arrive read, from which number to which.
CREATE TABLE messaging.mute_period (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  muted_id int NOT NULL,
  from_id bigint NOT NULL,
  to_id bigint,
  PRIMARY KEY (realm_id, user_id, muted_id, from_id)
);
CREATE INDEX mute_period_muted ON messaging.mute_period (realm_id, muted_id) WHERE to_id IS NULL;

-- This service's copy of what reading needs of channels.
CREATE TABLE messaging.channel (
  realm_id int NOT NULL,
  channel_id int NOT NULL,
  name text NOT NULL,
  is_private boolean NOT NULL,
  is_web_public boolean NOT NULL,
  is_archived boolean NOT NULL,
  history_public boolean NOT NULL,
  PRIMARY KEY (realm_id, channel_id)
);

-- A bit per message, set when read; a row per user and 4,096 ids.
CREATE TABLE messaging.read_block (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  block int NOT NULL,
  bits bit(4096) NOT NULL,
  PRIMARY KEY (realm_id, user_id, block)
);

-- Nothing up to here is unread, but for what has the flag `unread`.
CREATE TABLE messaging.read_floor (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  floor bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);

-- Sparse personal flags: starred, collapsed, and unread for what would be read otherwise.
CREATE TABLE messaging.flag (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  flag text NOT NULL,
  message_id bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id, flag, message_id)
);
CREATE INDEX flag_message ON messaging.flag (realm_id, message_id);

-- Where an old client says its user has read to.
CREATE TABLE messaging.pointer (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  pointer bigint NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);
