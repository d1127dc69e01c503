CREATE SCHEMA users;

CREATE TABLE users.realm (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL UNIQUE,
  is_default boolean NOT NULL DEFAULT false,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users.account (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  email text NOT NULL,
  full_name text NOT NULL,
  role int NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  is_bot boolean NOT NULL DEFAULT false,
  is_system_bot boolean NOT NULL DEFAULT false,
  bot_type int,
  bot_owner_id int,
  avatar_version int NOT NULL DEFAULT 1,
  password_hash text,
  can_create_users boolean NOT NULL DEFAULT false,
  can_change_user_emails boolean NOT NULL DEFAULT false,
  joined_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX account_email ON users.account (realm_id, lower(email));
CREATE INDEX account_inactive ON users.account (realm_id, id) WHERE NOT is_active;

-- Keys are 32 random characters (190 bits), so one SHA-256 is enough: there is nothing to guess.
CREATE TABLE users.api_key (
  hash bytea PRIMARY KEY,
  realm_id int NOT NULL,
  user_id int NOT NULL REFERENCES users.account (id),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_key_user ON users.api_key (user_id);

CREATE TABLE users.user_group (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  is_system boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX user_group_name ON users.user_group (realm_id, name);
CREATE TABLE users.group_member (
  group_id int NOT NULL REFERENCES users.user_group (id),
  user_id int NOT NULL REFERENCES users.account (id),
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_member_user ON users.group_member (user_id);
CREATE TABLE users.group_subgroup (
  group_id int NOT NULL REFERENCES users.user_group (id),
  subgroup_id int NOT NULL REFERENCES users.user_group (id),
  PRIMARY KEY (group_id, subgroup_id)
);

-- What differs from the defaults that the contract names; a new account starts with a copy of the realm's own defaults.
ALTER TABLE users.account ADD settings jsonb NOT NULL DEFAULT '{}';
ALTER TABLE users.realm ADD user_defaults jsonb NOT NULL DEFAULT '{}';
CREATE INDEX account_owned_bots ON users.account (bot_owner_id) WHERE is_bot;

ALTER TABLE users.api_key ADD id int GENERATED ALWAYS AS IDENTITY UNIQUE;
-- The client that logged in.
ALTER TABLE users.api_key ADD client text NOT NULL DEFAULT '';

-- A bot's key, sealed, so that its owner can see it again; and where an outgoing webhook leads.
CREATE TABLE users.bot (
  user_id int PRIMARY KEY REFERENCES users.account (id),
  sealed_key text NOT NULL,
  services jsonb NOT NULL DEFAULT '[]',
  default_sending_stream text,
  default_events_register_stream text,
  default_all_public_streams boolean NOT NULL DEFAULT false
);

-- Links that were mailed: a new address to confirm, a password to set. Only the hash of what the link holds is kept.
CREATE TABLE users.confirmation (
  hash bytea PRIMARY KEY,
  realm_id int NOT NULL,
  user_id int NOT NULL REFERENCES users.account (id),
  kind text NOT NULL CHECK (kind IN ('email', 'password')),
  email text NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE TABLE users.user_status (
  user_id int PRIMARY KEY REFERENCES users.account (id),
  status_text text NOT NULL DEFAULT '',
  emoji_name text NOT NULL DEFAULT '',
  emoji_code text NOT NULL DEFAULT '',
  reaction_type text NOT NULL DEFAULT ''
);

CREATE TABLE users.muted_user (
  user_id int NOT NULL REFERENCES users.account (id),
  muted_user_id int NOT NULL REFERENCES users.account (id),
  muted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, muted_user_id)
);

CREATE TABLE users.alert_word (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id int NOT NULL REFERENCES users.account (id),
  word text NOT NULL
);
CREATE UNIQUE INDEX alert_word_once ON users.alert_word (user_id, lower(word));

-- An uploaded picture; its address holds the token, which changes with it.
ALTER TABLE users.account ADD avatar_token text;
CREATE TABLE users.avatar (
  user_id int PRIMARY KEY REFERENCES users.account (id),
  realm_id int NOT NULL,
  token text NOT NULL UNIQUE,
  content_type text NOT NULL,
  picture bytea NOT NULL
);
