CREATE SCHEMA event_queue;

CREATE TABLE event_queue.queue (
  queue_id text PRIMARY KEY,
  realm_id int NOT NULL,
  user_id int NOT NULL,
  epoch int NOT NULL,
  record json NOT NULL,
  idle_timeout interval NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX queue_expiry ON event_queue.queue (expires_at);
CREATE INDEX queue_user ON event_queue.queue (realm_id, user_id);

-- When this system last worked. An outage is the time that it stood still; queues live longer by it.
CREATE TABLE event_queue.alive (
  is_single boolean PRIMARY KEY DEFAULT true CHECK (is_single),
  at timestamptz NOT NULL
);
INSERT INTO event_queue.alive (at) VALUES (now());
