-- Messages whose linked web pages are to be previewed. The row is deleted in the transaction that adds the previews.
CREATE TABLE messaging.link_preview_job (
  realm_id int NOT NULL,
  message_id bigint NOT NULL,
  -- The hash of the text whose links are previewed. If the message has another text, the job ends.
  content_hash bytea NOT NULL,
  urls text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts int NOT NULL DEFAULT 0,
  -- Until then a worker has it; a worker that dies loses it at that time.
  taken_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (realm_id, message_id)
);

-- Titles, descriptions and images of web pages, by the hash of their address. A page without a title and a description has no preview, or it failed.
CREATE TABLE messaging.link_preview (
  realm_id int NOT NULL,
  url_hash bytea NOT NULL,
  title text,
  description text,
  image text,
  fetched_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (realm_id, url_hash)
);
CREATE INDEX link_preview_fetched ON messaging.link_preview (realm_id, fetched_at);
CREATE INDEX link_preview_expires ON messaging.link_preview (expires_at);
