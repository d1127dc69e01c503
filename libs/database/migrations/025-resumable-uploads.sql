-- Uploads by the protocol tus. Their bytes are chunks of a file, which becomes an attachment when the last byte arrives.
CREATE TABLE messaging.resumable_upload (
  realm_id int NOT NULL,
  id text NOT NULL,
  owner_id int NOT NULL,
  file_key uuid NOT NULL,
  name text NOT NULL,
  content_type text NOT NULL,
  -- As the client sent it.
  metadata text NOT NULL,
  size bigint NOT NULL,
  -- The upload is complete when it is equal to the size. Until then the whole size counts against the quota of the realm.
  received bigint NOT NULL DEFAULT 0,
  -- Of the attachment, once the upload is complete.
  url text,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (realm_id, id)
);
CREATE INDEX resumable_upload_expiry ON messaging.resumable_upload (expires_at);
CREATE INDEX resumable_upload_unfinished ON messaging.resumable_upload (realm_id, owner_id) WHERE received < size;
