-- NULL for invitations that a process of the previous release closed, or an earlier one.
ALTER TABLE users.invitation ADD closed_at timestamptz;
-- The deletion of an ended invitation looks for those that were requested through it.
CREATE INDEX invitation_of_link ON users.invitation (link_id) WHERE link_id IS NOT NULL;
-- Invitations of the last day count, also if they are closed.
CREATE INDEX invitation_recent ON users.invitation (realm_id, created_at);
