-- Uploaded files in chunks, so that any process serves any of them. What was put and never kept goes after an hour.
CREATE TABLE messaging.file (
  realm_id int NOT NULL,
  key uuid NOT NULL,
  is_kept boolean NOT NULL DEFAULT false,
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (realm_id, key)
);
CREATE INDEX file_unkept ON messaging.file (stored_at) WHERE NOT is_kept;

CREATE TABLE messaging.file_chunk (
  realm_id int NOT NULL,
  key uuid NOT NULL,
  ordinal int NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (realm_id, key, ordinal)
);
-- Most files are compressed already.
ALTER TABLE messaging.file_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE messaging.attachment (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  realm_id int NOT NULL,
  owner_id int NOT NULL,
  name text NOT NULL,
  -- The random part of its path, by which texts refer to it.
  token text NOT NULL,
  path_id text NOT NULL,
  file_key uuid NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  -- Signs addresses that work without authentication.
  secret uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (realm_id, token)
);
CREATE INDEX attachment_owner ON messaging.attachment (realm_id, owner_id, id);

-- Which messages refer to a file of their sender's, or to one that their sender could see.
CREATE TABLE messaging.attachment_message (
  realm_id int NOT NULL,
  attachment_id int NOT NULL,
  message_id bigint NOT NULL,
  PRIMARY KEY (realm_id, attachment_id, message_id)
);
CREATE INDEX attachment_message_message ON messaging.attachment_message (realm_id, message_id);

CREATE TABLE messaging.upload_space (
  realm_id int PRIMARY KEY,
  bytes bigint NOT NULL
);
