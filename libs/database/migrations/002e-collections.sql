CREATE TABLE users.navigation_view (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id int NOT NULL REFERENCES users.account (id),
  fragment text NOT NULL,
  is_pinned boolean NOT NULL,
  -- NULL for built-in views.
  name text,
  CONSTRAINT navigation_view_fragment UNIQUE (user_id, fragment),
  CONSTRAINT navigation_view_name UNIQUE (user_id, name)
);

CREATE TABLE users.saved_snippet (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id int NOT NULL REFERENCES users.account (id),
  title text NOT NULL,
  content text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX saved_snippet_user ON users.saved_snippet (user_id);

CREATE TABLE users.onboarding_step (
  user_id int NOT NULL REFERENCES users.account (id),
  name text NOT NULL,
  PRIMARY KEY (user_id, name)
);

-- What a bot keeps between its runs.
CREATE TABLE users.bot_storage (
  user_id int NOT NULL REFERENCES users.account (id),
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (user_id, key)
);

CREATE TABLE users.device_token (
  user_id int NOT NULL REFERENCES users.account (id),
  kind text NOT NULL,
  token text NOT NULL,
  app_id text,
  PRIMARY KEY (user_id, kind, token)
);

-- Registrations that only the device can read; passed on by whoever sends push notifications one day.
CREATE TABLE users.push_device (
  user_id int NOT NULL REFERENCES users.account (id),
  push_account_id bigint NOT NULL,
  kind text NOT NULL,
  public_key text NOT NULL,
  bouncer_public_key text NOT NULL,
  registration text NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  PRIMARY KEY (user_id, push_account_id)
);

-- An installation of a client, and how it wants to be reached once push notifications are sent.
CREATE TABLE users.client_device (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id int NOT NULL REFERENCES users.account (id),
  push_key_id bigint,
  push_key text,
  token_kind text,
  token_id text,
  bouncer_public_key text,
  registration text
);
CREATE INDEX client_device_user ON users.client_device (user_id);
