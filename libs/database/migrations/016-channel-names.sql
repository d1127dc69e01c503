-- A rename wrote the old name back into messaging's copy of a channel. Take the names from their owner once more.
UPDATE messaging.channel copy SET name = original.name
FROM channels.channel original
WHERE original.realm_id = copy.realm_id AND original.id = copy.channel_id AND original.name <> copy.name;

-- The new consumer of users begins with the next rename: earlier ones are not applied to the default channels of bots.
INSERT INTO users.consumer (realm_id, name, position)
SELECT realm_id, 'bot-default-channels', number FROM log.clock ON CONFLICT DO NOTHING;
