-- Set when the operator begins to delete a realm. From then on `host` is a text that no request can name, so that
-- processes of every release answer its former host like an unknown one.
ALTER TABLE users.realm ADD COLUMN deletion_started_at timestamptz, ADD COLUMN former_host text;
