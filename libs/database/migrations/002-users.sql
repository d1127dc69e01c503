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
  timezone text NOT NULL DEFAULT '',
  avatar_version int NOT NULL DEFAULT 1,
  password_hash text,
  can_create_users boolean NOT NULL DEFAULT false,
  can_change_user_emails boolean NOT NULL DEFAULT false,
  joined_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX account_email ON users.account (realm_id, lower(email));

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
