-- A batch begins with the oldest due messages of a realm. Very many may be due at one time.
CREATE INDEX CONCURRENTLY IF NOT EXISTS scheduled_turns ON messaging.scheduled_message (realm_id, due_at, id) WHERE state = 'waiting';
