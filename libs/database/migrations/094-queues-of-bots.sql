-- The owner of a bot when it registered, because the queues of all bots of one owner have a common limit. NULL for queues of people,
-- of bots without an owner, and of bots that registered at a process of the previous release: the common limit does not count these.
ALTER TABLE event_queue.queue ADD COLUMN bot_owner_id int;
