-- The owner of the bot when it scheduled or last changed the message. It is not sent if the bot has another owner when it is due. NULL:
-- not of a bot, or of a process of the previous release.
ALTER TABLE messaging.scheduled_message ADD COLUMN bot_owner_id int;
