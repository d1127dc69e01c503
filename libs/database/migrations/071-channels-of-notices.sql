-- The channels that the server links in a bot's message; it links no others, because its text may quote users. Rows of the
-- previous release have none.
ALTER TABLE messaging.scheduled_message ADD COLUMN linked_channel_ids int[];
