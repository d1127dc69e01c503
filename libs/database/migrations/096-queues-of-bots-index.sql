-- A register of a bot counts the queues of all bots of its owner. Queues of people are not in this index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS queue_bot_owner ON event_queue.queue (realm_id, bot_owner_id) WHERE bot_owner_id IS NOT NULL;
