-- This service's copy of personal settings it acts on; a user without a row has the setting's usual value.
CREATE TABLE messaging.personal_setting (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  name text NOT NULL,
  value jsonb NOT NULL,
  PRIMARY KEY (realm_id, user_id, name)
);

CREATE TABLE messaging.draft (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  user_id int NOT NULL,
  type text NOT NULL,
  recipient_ids int[] NOT NULL,
  topic text NOT NULL,
  content text NOT NULL,
  -- Seconds since 1970, as the client says.
  edited_at double precision NOT NULL
);
CREATE INDEX draft_user ON messaging.draft (realm_id, user_id, edited_at);

-- The bots that write in the realm's own name.
CREATE TABLE messaging.system_bot (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  name text NOT NULL,
  PRIMARY KEY (realm_id, user_id)
);

-- A person's name and role, and whose bot it is.
CREATE TABLE messaging.standing (
  realm_id int NOT NULL,
  user_id int NOT NULL,
  full_name text NOT NULL,
  role int NOT NULL,
  bot_owner_id int,
  PRIMARY KEY (realm_id, user_id)
);
