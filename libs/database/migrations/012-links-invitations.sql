-- An invitation that was mailed to who opened a reusable link: it dies with the link, and is not listed.
-- The key of an invitation by mail may be stored as 'sha256:' and the hash of what was mailed.
ALTER TABLE users.invitation ADD COLUMN link_id int REFERENCES users.invitation (id);
