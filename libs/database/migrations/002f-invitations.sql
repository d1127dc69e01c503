CREATE TABLE users.invitation (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  key text NOT NULL UNIQUE,
  -- NULL for a reusable link.
  email text,
  inviter_id int NOT NULL REFERENCES users.account (id),
  invite_as int NOT NULL,
  channel_ids int[] NOT NULL,
  group_ids int[] NOT NULL,
  default_channels boolean NOT NULL,
  -- NULL: the realm's own; '': none.
  welcome_text text,
  notify_inviter boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- NULL never expires.
  expires_at timestamptz,
  -- Revoked, or used where it can be used once.
  is_closed boolean NOT NULL DEFAULT false
);
CREATE INDEX invitation_open ON users.invitation (realm_id) WHERE NOT is_closed;
