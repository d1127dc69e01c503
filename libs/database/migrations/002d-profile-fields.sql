CREATE TABLE users.profile_field (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL REFERENCES users.realm (id),
  name text NOT NULL,
  hint text NOT NULL,
  type int NOT NULL,
  -- Options of a list, or where an external account is; '' for all other types. JSON text as clients read it.
  field_data text NOT NULL,
  position int NOT NULL,
  display_in_profile_summary boolean NOT NULL,
  required boolean NOT NULL,
  editable_by_user boolean NOT NULL,
  UNIQUE (realm_id, name)
);

CREATE TABLE users.profile_value (
  field_id int NOT NULL REFERENCES users.profile_field (id),
  user_id int NOT NULL REFERENCES users.account (id),
  value text NOT NULL,
  rendered_value text,
  PRIMARY KEY (field_id, user_id)
);
CREATE INDEX profile_value_user ON users.profile_value (user_id);
