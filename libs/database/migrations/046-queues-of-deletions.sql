-- Event-queue ends queues by deletions of many messages.
UPDATE log.writer SET reads = reads || ARRAY['delete_message'] WHERE role = 'natter_event_queue';

-- The new consumer of event-queue begins with the next event: earlier ones end no queue.
INSERT INTO event_queue.consumer (realm_id, name, position)
SELECT realm_id, 'queues-of-deletions', number FROM log.clock ON CONFLICT DO NOTHING;
