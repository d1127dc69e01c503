-- How often a process began to post the message, so that a message whose delivery ends with an unknown error is given up.
ALTER TABLE messaging.webhook_delivery ADD COLUMN attempts int NOT NULL DEFAULT 0;
-- Finds the messages that are due of one bot. Few rows wait, so the index is built at once.
CREATE INDEX webhook_delivery_due_of_bot ON messaging.webhook_delivery (realm_id, bot_id, due_at);
