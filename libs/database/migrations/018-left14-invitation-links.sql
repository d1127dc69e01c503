-- The key of a reusable link, sealed like keys of bots: administrators see the link again. `key` holds the hash of it, as for mailed
-- invitations. NULL for mailed invitations, and for links of earlier releases until the users service has converted them.
ALTER TABLE users.invitation ADD COLUMN sealed_key text;
